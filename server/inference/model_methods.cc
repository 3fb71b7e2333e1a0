#include "server/inference/model_methods.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inference/open_inference.pb.h"
#include "proto/infer_datatype.h"
#include "server/units.h"

namespace trelu::server {
namespace {

using inference::ModelConfigRequest;
using inference::ModelConfigResponse;
using inference::ModelMetadataRequest;
using inference::ModelMetadataResponse;
using inference::ModelReadyRequest;
using inference::ModelReadyResponse;
using inference::ModelStatisticsRequest;
using inference::ModelStatisticsResponse;

// What a model that takes anything says it takes: the protocol has no word for "any".
constexpr DType kShownDType = DType::kFloat32;

std::vector<std::int64_t> ShownDims(const Model& model) {
  return model.dims.value_or(std::vector<std::int64_t>{-1});
}

void Describe(const Model& model, const std::string& name,
              ModelMetadataResponse::TensorMetadata& tensor) {
  tensor.set_name(name);
  tensor.set_datatype(std::string(OpenInferenceName(model.dtype.value_or(kShownDType))));
  for (const std::int64_t size : ShownDims(model)) tensor.add_shape(size);
}

inference::DataType ConfigType(const Model& model) {
  switch (model.dtype.value_or(kShownDType)) {
    case DType::kFloat16:
      return inference::TYPE_FP16;
    case DType::kBFloat16:
      return inference::TYPE_BF16;
    case DType::kFloat32:
      return inference::TYPE_FP32;
    case DType::kFloat64:
      return inference::TYPE_FP64;
  }
  return inference::TYPE_INVALID;
}

absl::StatusOr<ModelReadyResponse> Ready(const InferenceRooms& rooms,
                                         const ModelReadyRequest& request) {
  const absl::Status found = rooms.models.Find(request.name(), request.version()).status();
  if (found.code() == absl::StatusCode::kInvalidArgument) return found;
  ModelReadyResponse response;
  response.set_ready(rooms.serving() && found.ok());
  return response;
}

absl::StatusOr<ModelMetadataResponse> Metadata(const InferenceRooms& rooms,
                                               const ModelMetadataRequest& request) {
  const auto model = rooms.models.Find(request.name(), request.version());
  if (!model.ok()) return model.status();
  ModelMetadataResponse response;
  response.set_name((*model)->name);
  response.set_platform((*model)->platform);
  for (const auto& ready : rooms.models.Ready((*model)->name)) {
    response.add_versions(absl::StrCat(ready->version));
  }
  Describe(**model, (*model)->input_name, *response.add_inputs());
  Describe(**model, (*model)->output_name, *response.add_outputs());
  auto& properties = *response.mutable_properties();
  if ((*model)->alpha) properties["alpha"] = ExactText(*(*model)->alpha);
  if (!(*model)->dtype) properties["datatypes"] = "FP16,BF16,FP32,FP64";
  return response;
}

absl::StatusOr<ModelConfigResponse> Config(const InferenceRooms& rooms,
                                           const ModelConfigRequest& request) {
  const auto model = rooms.models.Find(request.name(), request.version());
  if (!model.ok()) return model.status();
  ModelConfigResponse response;
  inference::ModelConfig& config = *response.mutable_config();
  config.set_name((*model)->name);
  config.set_platform((*model)->platform);
  config.set_backend("trelu");
  auto& input = *config.add_input();
  input.set_name((*model)->input_name);
  input.set_data_type(ConfigType(**model));
  auto& output = *config.add_output();
  output.set_name((*model)->output_name);
  output.set_data_type(ConfigType(**model));
  for (const std::int64_t size : ShownDims(**model)) {
    input.add_dims(size);
    output.add_dims(size);
  }
  if ((*model)->alpha) {
    (*config.mutable_parameters())["alpha"].set_string_value(ExactText(*(*model)->alpha));
  }
  return response;
}

void Fill(const ModelStatisticsReading::Duration& from, inference::StatisticDuration& to) {
  to.set_count(from.count);
  to.set_ns(from.ns);
}

void Fill(const Model& model, inference::ModelStatistics& to) {
  const ModelStatisticsReading from = model.statistics->Read();
  to.set_name(model.name);
  to.set_version(absl::StrCat(model.version));
  to.set_last_inference(from.last_inference_ms);
  to.set_inference_count(from.inference_count);
  to.set_execution_count(from.execution_count);
  inference::InferStatistics& stats = *to.mutable_inference_stats();
  Fill(from.success, *stats.mutable_success());
  Fill(from.fail, *stats.mutable_fail());
  Fill(from.queue, *stats.mutable_queue());
  Fill(from.compute_input, *stats.mutable_compute_input());
  Fill(from.compute_infer, *stats.mutable_compute_infer());
  Fill(from.compute_output, *stats.mutable_compute_output());
  if (from.execution_count == 0) return;
  // No model batches: every execution is of one request.
  inference::InferBatchStatistics& batch = *to.add_batch_stats();
  batch.set_batch_size(1);
  Fill(from.compute_input, *batch.mutable_compute_input());
  Fill(from.compute_infer, *batch.mutable_compute_infer());
  Fill(from.compute_output, *batch.mutable_compute_output());
}

absl::StatusOr<ModelStatisticsResponse> Statistics(const InferenceRooms& rooms,
                                                   const ModelStatisticsRequest& request) {
  ModelStatisticsResponse response;
  // As in Triton, a version without a name changes nothing.
  if (!request.name().empty()) {
    const auto model = rooms.models.Find(request.name(), request.version());
    if (!model.ok()) return model.status();
    if (!request.version().empty()) {
      Fill(**model, *response.add_model_stats());
      return response;
    }
  }
  for (const auto& model : rooms.models.Ready(request.name())) {
    Fill(*model, *response.add_model_stats());
  }
  return response;
}

}  // namespace

void AddModelMethods(SmallMethods& methods, const InferenceRooms& rooms) {
  methods.Add<ModelReadyRequest, ModelReadyResponse>(
      "ModelReady", [&rooms](const ModelReadyRequest& request) { return Ready(rooms, request); });
  methods.Add<ModelMetadataRequest, ModelMetadataResponse>(
      "ModelMetadata",
      [&rooms](const ModelMetadataRequest& request) { return Metadata(rooms, request); });
  methods.Add<ModelConfigRequest, ModelConfigResponse>(
      "ModelConfig",
      [&rooms](const ModelConfigRequest& request) { return Config(rooms, request); });
  methods.Add<ModelStatisticsRequest, ModelStatisticsResponse>(
      "ModelStatistics",
      [&rooms](const ModelStatisticsRequest& request) { return Statistics(rooms, request); });
}

}  // namespace trelu::server
