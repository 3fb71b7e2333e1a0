#include "tests/support/infer_tensor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/infer_datatype.h"

namespace trelu::testing {
namespace {

template <typename Tensor>
void Place(Tensor& tensor, const std::string& region, std::int64_t byte_size, std::int64_t offset) {
  auto& parameters = *tensor.mutable_parameters();
  parameters["shared_memory_region"].set_string_param(region);
  parameters["shared_memory_byte_size"].set_int64_param(byte_size);
  if (offset != 0) parameters["shared_memory_offset"].set_int64_param(offset);
}

}  // namespace

std::string InferenceMethod(const std::string& name) {
  return "/inference.GRPCInferenceService/" + name;
}

inference::ModelInferRequest ToInferRequest(const WireTensorCase& tensor, const std::string& id) {
  inference::ModelInferRequest request;
  request.set_model_name("thresholded_relu");
  request.set_id(id);
  if (tensor.alpha) (*request.mutable_parameters())["alpha"].set_double_param(*tensor.alpha);
  auto& input = *request.add_inputs();
  input.set_name("X");
  input.set_datatype(std::string(OpenInferenceName(tensor.dtype)));
  input.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  request.add_raw_input_contents(tensor.data);
  return request;
}

void PlaceInput(inference::ModelInferRequest& request, const std::string& region,
                std::int64_t byte_size, std::int64_t offset) {
  request.clear_raw_input_contents();
  Place(*request.mutable_inputs(0), region, byte_size, offset);
}

void PlaceOutput(inference::ModelInferRequest& request, const std::string& region,
                 std::int64_t byte_size, std::int64_t offset) {
  auto& output = *request.add_outputs();
  output.set_name("Y");
  Place(output, region, byte_size, offset);
}

bool IsInferAnswer(const std::string& response, const inference::ModelInferRequest& request,
                   const std::string& expected) {
  inference::ModelInferResponse answer;
  if (!answer.ParseFromString(response)) return false;
  if (answer.model_name() != request.model_name() || answer.model_version() != "1" ||
      answer.id() != request.id() || answer.outputs_size() != 1 ||
      answer.raw_output_contents_size() != 1) {
    return false;
  }
  const auto& input = request.inputs(0);
  const auto& output = answer.outputs(0);
  return output.name() == "Y" && output.datatype() == input.datatype() &&
         std::equal(output.shape().begin(), output.shape().end(), input.shape().begin(),
                    input.shape().end()) &&
         answer.raw_output_contents(0) == expected;
}

inference::ModelStreamInferResponse ParseStreamed(const std::optional<std::string>& response) {
  inference::ModelStreamInferResponse parsed;
  EXPECT_TRUE(response.has_value()) << "the stream is over";
  EXPECT_TRUE(parsed.ParseFromString(response.value_or("")));
  return parsed;
}

}  // namespace trelu::testing
