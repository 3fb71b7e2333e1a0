// Ranges of settings, and which settings cannot go together.
#ifndef TRELU_SERVER_OPTIONS_CHECK_H_
#define TRELU_SERVER_OPTIONS_CHECK_H_

#include <absl/status/status.h>

#include <chrono>
#include <cstdint>

#include "server/options.h"

namespace trelu::server {

inline constexpr int kMaxWorkers = 1024;
// gRPC counts message bytes and milliseconds in an int.
inline constexpr std::uint64_t kMaxMessageBytes = (std::uint64_t{1} << 31) - 1;
inline constexpr std::chrono::milliseconds kMaxDuration = std::chrono::hours(596);
// Beyond it a sleep costs nothing that anyone would notice.
inline constexpr std::chrono::microseconds kMaxBusyPoll = std::chrono::milliseconds(10);

// OK, or INVALID_ARGUMENT naming every flag that takes part: an address that cannot be read or is
// there twice, a number out of range, a certificate without its key, a message limit above
// `memory_bytes`, which is what the machine or the cgroup leaves us. Opens nothing.
absl::Status CheckOptions(const Options& options, std::uint64_t memory_bytes);

}  // namespace trelu::server

#endif  // TRELU_SERVER_OPTIONS_CHECK_H_
