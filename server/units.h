// Sizes and durations as people write them: 64MiB, 256k, 250ms, 5m.
#ifndef TRELU_SERVER_UNITS_H_
#define TRELU_SERVER_UNITS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trelu::server {

// A whole number, alone (bytes) or with b, k, m, g or t, which may be followed by b or ib; letters
// of either case, every step 1024. Nothing when the text is anything else or needs more than 64
// bits.
std::optional<std::uint64_t> ParseBytes(std::string_view text);

// A whole number, alone (seconds) or with us, ms, s, m or h. Nothing when the text is anything else
// or needs more than 63 bits of microseconds.
std::optional<std::chrono::microseconds> ParseDuration(std::string_view text);

// The shortest text that the parsers above read back as the same value.
std::string FormatBytes(std::uint64_t bytes);
std::string FormatDuration(std::chrono::microseconds duration);

// The shortest decimal number that reads back as `value`: "0.1", "1e+20", "nan".
std::string ExactText(float value);

}  // namespace trelu::server

#endif  // TRELU_SERVER_UNITS_H_
