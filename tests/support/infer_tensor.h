// Tensors as clients of the Open Inference protocol send them, by protobuf's own encoder.
#ifndef TRELU_TESTS_SUPPORT_INFER_TENSOR_H_
#define TRELU_TESTS_SUPPORT_INFER_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "inference/open_inference.pb.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {

inline constexpr char kModelInfer[] = "/inference.GRPCInferenceService/ModelInfer";
inline constexpr char kModelStreamInfer[] = "/inference.GRPCInferenceService/ModelStreamInfer";

// Any method of the service, as "ServerLive".
std::string InferenceMethod(const std::string& name);

// For model thresholded_relu, the elements in raw_input_contents, alpha as double_param.
inference::ModelInferRequest ToInferRequest(const WireTensorCase& tensor,
                                            const std::string& id = "");

// The same without elements in the message: those of input, or of output, lie in a region.
void PlaceInput(inference::ModelInferRequest& request, const std::string& region,
                std::int64_t byte_size, std::int64_t offset = 0);
void PlaceOutput(inference::ModelInferRequest& request, const std::string& region,
                 std::int64_t byte_size, std::int64_t offset = 0);

// Whether a serialized ModelInferResponse answers the request with exactly these bytes, raw.
bool IsInferAnswer(const std::string& response, const inference::ModelInferRequest& request,
                   const std::string& expected);

// Of a serialized ModelStreamInferResponse; fails the test and gives an empty one for other bytes.
inference::ModelStreamInferResponse ParseStreamed(const std::optional<std::string>& response);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_INFER_TENSOR_H_
