// All of an ApplyRequest or ApplyResponse but the payload's bytes, as protobuf encoders write it:
// what apply_codec reads and writes by hand.
#ifndef TRELU_PROTO_APPLY_HEADER_H_
#define TRELU_PROTO_APPLY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "proto/apply_codec.h"
#include "trelu/tensor_spec.h"

namespace trelu {

struct ApplyHeader {
  std::optional<WireTensor> tensor;
  std::optional<float> alpha;
  // Of the header itself. The rest of the message is the payload.
  std::size_t bytes = 0;
};

// Reads the header of a message of `message_bytes` bytes that begins with `prefix`. Nothing when
// the message is not encoded in the usual way or its header is longer than `prefix`: that says
// nothing about whether it is valid. `has_alpha`: the message's type has that field.
std::optional<ApplyHeader> ParseUsualHeader(std::span<const std::uint8_t> prefix,
                                            std::size_t message_bytes, bool has_alpha);

// The most bytes that WriteHeader writes: kMaxRank sizes of at most nine bytes, and 32 for the
// rest.
inline constexpr std::size_t kMaxWrittenHeaderBytes = kMaxRank * 9 + 32;

// Writes the header of a message with `payload_bytes` bytes of data; returns its size. `tensor`
// null: left out.
std::size_t WriteHeader(const TensorSpec* tensor, std::optional<float> alpha,
                        std::size_t payload_bytes,
                        std::span<std::uint8_t, kMaxWrittenHeaderBytes> header);

}  // namespace trelu

#endif  // TRELU_PROTO_APPLY_HEADER_H_
