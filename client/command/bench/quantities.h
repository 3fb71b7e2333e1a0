// Sizes and times as people write and read them.
#ifndef TRELU_CLIENT_COMMAND_BENCH_QUANTITIES_H_
#define TRELU_CLIENT_COMMAND_BENCH_QUANTITIES_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace trelu::command {

// "64", "64B", "4KiB", "1MiB", "2GiB" (powers of 1024) or "4kB", "1MB", "2GB" (powers of 1000),
// whole numbers, up to 2^62. INVALID_ARGUMENT for anything else.
absl::StatusOr<std::uint64_t> ParseBytes(const std::string& text);

// "10s", "500ms", "1.5s", "2m" or "1h", or a number of seconds; at most a day. INVALID_ARGUMENT
// for anything else.
absl::StatusOr<std::chrono::nanoseconds> ParseDuration(const std::string& text);

// "1 MiB" when the number is that exactly, else bytes: "1000 B".
std::string FormatBytes(std::uint64_t bytes);

// Three significant digits and a unit: "850ns", "12.3us", "1.23ms", "2.05s", "123s".
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_QUANTITIES_H_
