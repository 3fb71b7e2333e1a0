// The elements that came in an infer request, raw or in arrays of their type.
#ifndef TRELU_SERVER_INFERENCE_INPUT_ELEMENTS_H_
#define TRELU_SERVER_INFERENCE_INPUT_ELEMENTS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "proto/infer_codec.h"
#include "trelu/dtype.h"

namespace trelu::server {

// Of `message`'s one input, whose datatype is `dtype`; none when it has none. INVALID_ARGUMENT,
// beginning with `input`: raw and typed at once, more than one raw entry, or arrays of another
// type.
absl::StatusOr<Payload> TakeElements(const std::string& input, InferRequest& message, DType dtype);

// INVALID_ARGUMENT unless there are none: the input lies in shared memory.
absl::Status CheckNoElements(const std::string& input, const InferRequest& message);

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_INPUT_ELEMENTS_H_
