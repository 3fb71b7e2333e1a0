// The parameters of Open Inference requests and tensors that mean something here.
#ifndef TRELU_SERVER_INFERENCE_INFER_PARAMETERS_H_
#define TRELU_SERVER_INFERENCE_INFER_PARAMETERS_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inference/open_inference.pb.h"

namespace trelu::server {

using InferParameters = google::protobuf::Map<std::string, inference::InferParameter>;

// Of a request (Open Inference protocol, ModelInferRequest.parameters; Triton's extensions
// "parameters" and "schedule_policy").
struct RequestParameters {
  // The operator's attribute: double_param or int64_param, rounded to float32 first.
  std::optional<float> alpha;
  // How long the caller wants to wait; none when absent or 0.
  std::optional<std::chrono::microseconds> timeout;
};

// INVALID_ARGUMENT, naming the parameter, for a known one of the wrong type, an unknown one that
// begins with "triton_", and a value of no type or, outside `priority`, of type uint64, as Triton
// has it. Others, such as `priority` and `sequence_id`, are accepted and change nothing.
absl::StatusOr<RequestParameters> ReadRequestParameters(const InferParameters& parameters);

// Where in shared memory a tensor's bytes lie (Triton's extension "system_shared_memory").
struct Placement {
  std::string region;
  std::uint64_t offset = 0;
  std::uint64_t byte_size = 0;

  friend bool operator==(const Placement&, const Placement&) = default;
};

// Nothing without `shared_memory_region`. INVALID_ARGUMENT, beginning with `tensor`, for one of its
// parameters that is missing, of the wrong type or negative, and for the others that Triton knows
// (`classification`), which would change the answer.
absl::StatusOr<std::optional<Placement>> ReadPlacement(std::string_view tensor,
                                                       const InferParameters& parameters);

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_INFER_PARAMETERS_H_
