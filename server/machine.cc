#include "server/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

namespace trelu::server {
namespace {

// Where our cgroup is, below the mount point of its hierarchy.
struct CgroupPaths {
  std::string unified;      // version 2
  std::string cpu, memory;  // version 1
};

CgroupPaths ReadCgroupPaths(const std::string& root) {
  CgroupPaths paths;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    if (line.rfind("0::", 0) == 0) paths.unified = path;
    for (std::string name; std::getline(controllers, name, ',');) {
      if (name == "cpu") paths.cpu = path;
      if (name == "memory") paths.memory = path;
    }
  }
  return paths;
}

// The directory of the cgroup and all above it up to the mount point. A path from outside our
// namespace names directories that are not there; the mount point then is our own cgroup.
std::vector<std::string> DirectoriesUpFrom(const std::string& mount, std::string path) {
  std::vector<std::string> directories;
  while (path.size() > 1) {
    directories.push_back(mount + path);
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  directories.push_back(mount);
  return directories;
}

template <typename T>
std::optional<T> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  T number{};
  if (!(file >> number)) return std::nullopt;
  return number;
}

template <typename T>
void Tighten(std::optional<T>& limit, T other) {
  if (!limit || other < *limit) limit = other;
}

}  // namespace

std::optional<double> CgroupCpuQuota(const std::string& root) {
  const CgroupPaths paths = ReadCgroupPaths(root);
  const std::string mount = root + "/sys/fs/cgroup";
  std::optional<double> quota;
  for (const std::string& directory : DirectoriesUpFrom(mount, paths.unified)) {
    // "max 100000" is no limit, and fails to be read as a number.
    std::ifstream file(directory + "/cpu.max");
    double micros = 0;
    double period = 0;
    if (file >> micros >> period && micros > 0 && period > 0) Tighten(quota, micros / period);
  }
  for (const std::string& directory : DirectoriesUpFrom(mount + "/cpu", paths.cpu)) {
    const auto micros = ReadNumber<double>(directory + "/cpu.cfs_quota_us");
    const auto period = ReadNumber<double>(directory + "/cpu.cfs_period_us");
    // -1 is no limit.
    if (micros && period && *micros > 0 && *period > 0) Tighten(quota, *micros / *period);
  }
  return quota;
}

std::optional<std::uint64_t> CgroupMemoryLimit(const std::string& root) {
  // Version 1 writes "no limit" as the largest multiple of a page.
  constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
  const CgroupPaths paths = ReadCgroupPaths(root);
  const std::string mount = root + "/sys/fs/cgroup";
  std::optional<std::uint64_t> limit;
  for (const std::string& directory : DirectoriesUpFrom(mount, paths.unified)) {
    const auto bytes = ReadNumber<std::uint64_t>(directory + "/memory.max");
    if (bytes) Tighten(limit, *bytes);
  }
  for (const std::string& directory : DirectoriesUpFrom(mount + "/memory", paths.memory)) {
    const auto bytes = ReadNumber<std::uint64_t>(directory + "/memory.limit_in_bytes");
    if (bytes && *bytes < kUnlimited) Tighten(limit, *bytes);
  }
  return limit;
}

int AvailableCpus(const std::string& root) {
  // A mask for more processors than any machine has; the plain cpu_set_t fails beyond 1024.
  constexpr std::size_t kMaskCpus = 16384;
  std::vector<cpu_set_t> mask(kMaskCpus / (8 * sizeof(cpu_set_t)));
  const std::size_t mask_bytes = mask.size() * sizeof(cpu_set_t);
  int cpus = 1;
  if (sched_getaffinity(0, mask_bytes, mask.data()) == 0)
    cpus = CPU_COUNT_S(mask_bytes, mask.data());
  if (const std::optional<double> quota = CgroupCpuQuota(root); quota && *quota < cpus) {
    cpus = static_cast<int>(std::ceil(*quota));
  }
  return std::max(cpus, 1);
}

std::uint64_t AvailableMemoryBytes(const std::string& root) {
  struct sysinfo machine {};
  std::uint64_t bytes = std::uint64_t{1} << 30;
  if (sysinfo(&machine) == 0) bytes = std::uint64_t{machine.totalram} * machine.mem_unit;
  return std::min(bytes, CgroupMemoryLimit(root).value_or(bytes));
}

std::uint64_t RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return FileLimit();
}

std::uint64_t FileLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace trelu::server
