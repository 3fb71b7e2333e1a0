#include "tests/benchmark/load/messages.h"

#include <algorithm>
#include <vector>

#include "inference/open_inference.pb.h"
#include "tests/benchmark/load/payload.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::benchmark {
namespace {

// A tensor that no run comes to the end of.
constexpr std::int64_t kEndless = std::int64_t{1} << 50;

std::string NativeRequest(const std::string& payload, std::int64_t elements) {
  v1::ApplyRequest request;
  if (elements > 0) {
    request.mutable_tensor()->set_dtype(v1::DATA_TYPE_FLOAT);
    request.mutable_tensor()->add_shape(elements);
    request.set_alpha(kAlpha);
  }
  request.set_data(payload);
  return request.SerializeAsString();
}

std::string InferRequest(const std::string& payload, std::int64_t elements) {
  inference::ModelInferRequest request;
  request.set_model_name("thresholded_relu");
  (*request.mutable_parameters())["alpha"].set_double_param(double{kAlpha});
  auto* input = request.add_inputs();
  input->set_name("X");
  input->set_datatype("FP32");
  input->add_shape(elements);
  request.add_raw_input_contents(payload);
  return request.SerializeAsString();
}

// Refers to `text`.
grpc::ByteBuffer Refer(const std::string& text) {
  const grpc::Slice slice(text.data(), text.size(), grpc::Slice::STATIC_SLICE);
  return {&slice, 1};
}

std::string Join(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string text;
  text.reserve(buffer.Length());
  if (buffer.Valid() && buffer.Dump(&slices).ok()) {
    for (const grpc::Slice& slice : slices) {
      text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  return text;
}

}  // namespace

Messages::Messages(const LoadOptions& options)
    : options_(options), payload_(MakePayload(options.bytes)), expected_(OperatorOf(payload_)) {
  const auto elements = static_cast<std::int64_t>(options.bytes / sizeof(float));
  const bool stream = options.call == Call::kStream;
  if (options.face == Face::kInference) {
    path_ =
        std::string("/inference.GRPCInferenceService/Model") + (stream ? "Stream" : "") + "Infer";
    first_text_ = next_text_ = InferRequest(payload_, elements);
  } else {
    path_ = std::string("/trelu.v1.ThresholdedRelu/Apply") + (stream ? "Stream" : "");
    const bool chunks = stream && options.pieces == Pieces::kChunks;
    first_text_ = NativeRequest(payload_, chunks ? kEndless : elements);
    next_text_ = chunks ? NativeRequest(payload_, 0) : first_text_;
  }
  first_ = Refer(first_text_);
  next_ = Refer(next_text_);
}

void Messages::Check(const grpc::ByteBuffer& answer, bool first) {
  std::size_t& bytes = answer_bytes_[first ? 0 : 1];
  if (bytes == 0) bytes = answer.Length();
  if (answer.Length() != bytes || bytes < options_.bytes) {
    Fail("an answer of " + std::to_string(answer.Length()) + " bytes");
  }
  if (options_.verify) Verify(Join(answer), first);
}

void Messages::Verify(const std::string& answer, bool first) const {
  const std::string& request = first ? first_text_ : next_text_;
  bool right = false;
  if (options_.answers == Answers::kEcho) {
    right = answer == request;
  } else if (options_.face == Face::kNative) {
    v1::ApplyRequest asked;
    v1::ApplyResponse response;
    right = asked.ParseFromString(request) && response.ParseFromString(answer) &&
            response.tensor().SerializeAsString() == asked.tensor().SerializeAsString() &&
            response.data() == expected_;
  } else {
    inference::ModelInferResponse response;
    inference::ModelStreamInferResponse streamed;
    if (options_.call == Call::kStream) {
      right = streamed.ParseFromString(answer) && streamed.error_message().empty();
      response = streamed.infer_response();
    } else {
      right = response.ParseFromString(answer);
    }
    inference::ModelInferRequest asked;
    right = right && asked.ParseFromString(request) && response.outputs_size() == 1 &&
            response.outputs(0).name() == "Y" && response.outputs(0).datatype() == "FP32" &&
            std::ranges::equal(response.outputs(0).shape(), asked.inputs(0).shape()) &&
            response.raw_output_contents_size() == 1 &&
            response.raw_output_contents(0) == expected_;
  }
  if (!right) Fail("a wrong answer");
}

}  // namespace trelu::benchmark
