// Numbers as people type them on the command line.
#ifndef TRELU_CLIENT_COMMAND_NUMBER_ARGUMENTS_H_
#define TRELU_CLIENT_COMMAND_NUMBER_ARGUMENTS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trelu::command {

// Decimal ("0.1", "-1e-3"), hexadecimal ("0x1.8p+1"), "inf", "-inf" or "nan", rounded once to the
// nearest float32, ties to even; too large becomes infinity, too small a subnormal or zero.
// INVALID_ARGUMENT for anything else, spaces included.
absl::StatusOr<float> ParseAlpha(const std::string& text);

// "2,3"; "" is a scalar. INVALID_ARGUMENT for what is not a list of int64; whether they make a
// shape is for Shape to say.
absl::StatusOr<std::vector<std::int64_t>> ParseShape(const std::string& text);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_NUMBER_ARGUMENTS_H_
