// What the machine, or the cgroup that holds us, gives this process: processors, memory,
// descriptors.
#ifndef TRELU_SERVER_MACHINE_H_
#define TRELU_SERVER_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace trelu::server {

// The functions below read `root`/proc/self/cgroup and `root`/sys/fs/cgroup, of version 1, 2 or
// both. The tightest limit of our cgroup and of those above it counts; files that are missing or
// unreadable limit nothing. `root` is for tests.

// Processors' worth of CPU time; nothing when unlimited.
std::optional<double> CgroupCpuQuota(const std::string& root = "");
// Nothing when unlimited.
std::optional<std::uint64_t> CgroupMemoryLimit(const std::string& root = "");

// The processors of the affinity mask or the quota rounded up, whichever is less; at least 1.
int AvailableCpus(const std::string& root = "");
// The memory of the machine or of the cgroup, whichever is less.
std::uint64_t AvailableMemoryBytes(const std::string& root = "");

// Raises the soft limit of open files to the hard one. Returns the limit then in force.
std::uint64_t RaiseFileLimit();
// The soft limit.
std::uint64_t FileLimit();

}  // namespace trelu::server

#endif  // TRELU_SERVER_MACHINE_H_
