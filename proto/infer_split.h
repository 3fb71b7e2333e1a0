// ModelInferRequest and ModelInferResponse (inference/open_inference.proto) taken apart: their
// tensors' elements, left where they were received, and a small message of everything else.
#ifndef TRELU_PROTO_INFER_SPLIT_H_
#define TRELU_PROTO_INFER_SPLIT_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "proto/message_slices.h"
#include "proto/payload.h"

namespace trelu {

// What one of the two types is called, and the number of its raw_..._contents.
struct InferType {
  absl::string_view name;
  absl::string_view tensors;
  absl::string_view raw;
  std::uint32_t raw_field;
};
inline constexpr InferType kInferRequest = {"ModelInferRequest", "inputs", "raw_input_contents", 7};
inline constexpr InferType kInferResponse = {"ModelInferResponse", "outputs", "raw_output_contents",
                                             6};

// The most bytes besides elements. Triton's clients send a few hundred.
inline constexpr std::size_t kMaxInferHeaderBytes = std::size_t{64} << 10;
// The most tensors, and the most raw entries.
inline constexpr std::size_t kMaxInferTensors = 1024;
// The most runs in which the elements of all `contents` may come. Encoders pack them all
// into one; those that do not send a run for each element, which takes its time.
inline constexpr std::size_t kMaxElementRuns = std::size_t{64} << 10;

// Elements of one tensor that came in the arrays of its `contents`: as raw little-endian bytes,
// which is how they are encoded.
struct TypedContents {
  Payload fp32;
  Payload fp64;
};

struct InferTensors {
  // raw_input_contents or raw_output_contents, in order, empty entries included.
  absl::InlinedVector<Payload, 1> raw;
  // One for each of the header's `inputs` or `outputs`.
  absl::InlinedVector<TypedContents, 1> typed;
};

// Fills `header` with the message without what goes to `tensors`, for protobuf to parse: whether
// strings are UTF-8, maps, unknown fields and the like are protobuf's to judge. INVALID_ARGUMENT
// when protobuf would refuse the message for what is in no header, and above the limits.
absl::Status SplitInferMessage(const MessageSlices& message, const InferType& type,
                               std::string& header, InferTensors& tensors);

}  // namespace trelu

#endif  // TRELU_PROTO_INFER_SPLIT_H_
