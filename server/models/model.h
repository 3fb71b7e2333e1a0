// A model of the Open Inference protocol: a named configuration of the one operator.
#ifndef TRELU_SERVER_MODELS_MODEL_H_
#define TRELU_SERVER_MODELS_MODEL_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/models/model_statistics.h"
#include "trelu/dtype.h"
#include "trelu/shape.h"

namespace trelu::server {

// One input, one output, ThresholdedRelu between them. Once others see it, nothing but its
// statistics changes; any thread.
struct Model {
  std::string name;
  std::int64_t version = 1;
  std::string platform = "trelu";
  std::string input_name = "X";
  std::string output_name = "Y";
  // Nothing: any of the four.
  std::optional<DType> dtype;
  // Nothing: any shape of any rank. -1: any size.
  std::optional<std::vector<std::int64_t>> dims;
  // As long as dims, or empty: names of sizes that are not fixed, "" for none. Dimensions of one
  // name have equal sizes (ONNX's IR.md, "Tensor Shapes": a dim_param stands for one number).
  std::vector<std::string> dim_names;
  // Nothing: each request says, in its parameter `alpha`, or means the operator's default.
  std::optional<float> alpha;
  // Never null. Shared with the versions of the file that came before and after.
  std::shared_ptr<ModelStatistics> statistics = std::make_shared<ModelStatistics>();

  friend bool operator==(const Model&, const Model&) = default;
};

// What is served without any file: thresholded_relu, which takes all four dtypes, and
// thresholded_relu_fp16, _bf16, _fp32 and _fp64 for callers that want to be told their dtype. Any
// shape; alpha comes with the request. New statistics at each call.
std::vector<Model> BuiltInModels();

// The dtype that a request's `datatype` means. INVALID_ARGUMENT, naming input, what came and what
// was expected, unless the model takes it.
absl::StatusOr<DType> CheckDType(const Model& model, std::string_view datatype);

// INVALID_ARGUMENT, naming the same, unless the model takes inputs of `shape`.
absl::Status CheckShape(const Model& model, const Shape& shape);

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_H_
