#include "server/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace trelu::server {
namespace {

// Of proc(5)'s /proc/self/stat.
struct Stat {
  double threads = 0;
  double start_ticks = 0;  // since the machine started
  double virtual_bytes = 0;
  std::uint64_t resident_bytes = 0;
};

std::optional<Stat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The second field, the command, may hold anything; the third follows its last parenthesis.
  const std::size_t command_end = line.rfind(')');
  if (command_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(command_end + 1));
  Stat stat;
  std::uint64_t resident_pages = 0;
  std::string skipped;
  for (int field = 3; field < 20; ++field) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.start_ticks >> stat.virtual_bytes >> resident_pages;
  if (!fields) return std::nullopt;
  stat.resident_bytes = resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return stat;
}

std::optional<double> BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  for (std::string key; file >> key; std::getline(file, key)) {
    double seconds = 0;
    if (key == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> CountOpenFiles() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return std::nullopt;
  double count = 0;
  // A DIR of our own is safe to read; the function is unsafe only when two threads share one.
  while (const dirent* entry = readdir(directory)) {  // NOLINT(concurrency-mt-unsafe)
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(directory);
  return count - 1;  // without the one that reads the directory
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

prometheus::MetricFamily Family(std::string name, std::string help, prometheus::MetricType type,
                                double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.counter.value = value;
  return {std::move(name), std::move(help), type, {std::move(metric)}};
}

}  // namespace

std::vector<prometheus::MetricFamily> CollectProcessMetrics() {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> families;
  const auto gauge = [&](std::string name, std::string help, double value) {
    families.push_back(Family(std::move(name), std::move(help), MetricType::Gauge, value));
  };
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    families.push_back(Family("process_cpu_seconds_total", "User and system CPU time spent.",
                              MetricType::Counter,
                              Seconds(usage.ru_utime) + Seconds(usage.ru_stime)));
  }
  if (const std::optional<Stat> stat = ReadStat()) {
    gauge("process_resident_memory_bytes", "Memory that is held.",
          static_cast<double>(stat->resident_bytes));
    gauge("process_virtual_memory_bytes", "Address space that is mapped.", stat->virtual_bytes);
    gauge("process_threads", "Threads that exist.", stat->threads);
    if (const std::optional<double> boot = BootTimeSeconds()) {
      gauge("process_start_time_seconds", "Start of the process, as Unix time.",
            *boot + stat->start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
    }
  }
  if (const std::optional<double> files = CountOpenFiles()) {
    gauge("process_open_fds", "File descriptors that are open.", *files);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    gauge("process_max_fds", "File descriptors that may be open.",
          static_cast<double>(limit.rlim_cur));
  }
  return families;
}

std::optional<std::uint64_t> ResidentBytes() {
  const std::optional<Stat> stat = ReadStat();
  if (!stat) return std::nullopt;
  return stat->resident_bytes;
}

}  // namespace trelu::server
