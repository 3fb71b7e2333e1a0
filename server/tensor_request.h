// The wire's idea of a tensor, checked and made the core's.
#ifndef TRELU_SERVER_TENSOR_REQUEST_H_
#define TRELU_SERVER_TENSOR_REQUEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/thresholded_relu.h"
#include "proto/apply_codec.h"
#include "trelu/tensor_spec.h"

namespace trelu::server {

// A tensor that a caller announced, and what to do to it.
struct TensorRequest {
  TensorSpec spec;
  ThresholdedRelu op;
};

// INVALID_ARGUMENT, naming the field, for an unknown dtype or a shape that Shape::Create refuses.
// Nothing is allocated by what the shape declares.
absl::StatusOr<TensorRequest> ReadTensorRequest(const WireTensor& tensor,
                                                std::optional<float> alpha);

// "float32 [2, 3]", cut after a few dimensions.
std::string Describe(const TensorSpec& spec);

// INVALID_ARGUMENT unless `bytes` is what the spec needs.
absl::Status CheckBytes(const TensorSpec& spec, std::uint64_t bytes);

}  // namespace trelu::server

#endif  // TRELU_SERVER_TENSOR_REQUEST_H_
