#include "server/inference/inference.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <utility>

#include "proto/infer_datatype.h"
#include "server/inference/input_elements.h"
#include "server/log.h"
#include "server/refusal.h"
#include "server/small_methods.h"
#include "server/status.h"
#include "server/tensor_request.h"
#include "server/units.h"

namespace trelu::server {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

Segments OneRange(std::span<std::byte> range) {
  Segments segments;
  segments.Append(range);
  return segments;
}

std::chrono::system_clock::time_point Earlier(std::chrono::system_clock::time_point deadline,
                                              std::optional<std::chrono::microseconds> timeout) {
  if (!timeout) return deadline;
  const auto now = std::chrono::system_clock::now();
  // By subtraction and in microseconds: neither the sum nor the timeout in nanoseconds may fit.
  const auto left = std::chrono::floor<std::chrono::microseconds>(deadline - now);
  return left > *timeout ? now + *timeout : deadline;
}

}  // namespace

absl::Status Inference::Take(grpc::ByteBuffer& message,
                             std::chrono::system_clock::time_point call_deadline) {
  deadline_ = call_deadline;
  absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
  absl::Status status = decoded.status();
  if (status.ok()) status = Read(*std::move(decoded));
  taken_ = Clock::now();
  return status;
}

absl::Status Inference::Read(InferRequest message) {
  id_ = std::move(*message.header.mutable_id());
  const ModelInferRequest& header = message.header;
  auto model = models_.Find(header.model_name(), header.model_version());
  if (!model.ok()) return model.status();
  model_ = *std::move(model);

  const auto parameters = ReadRequestParameters(header.parameters());
  if (!parameters.ok()) return parameters.status();
  if (parameters->alpha && model_->alpha) {
    return absl::InvalidArgumentError(absl::StrCat("parameters['alpha']: model ",
                                                   Quoted(model_->name), " has its own, ",
                                                   ExactText(*model_->alpha)));
  }
  deadline_ = Earlier(deadline_, parameters->timeout);
  const float alpha = model_->alpha.value_or(parameters->alpha.value_or(kDefaultAlpha));
  if (absl::Status input = ReadInput(message, alpha); !input.ok()) return input;
  return ReadOutput(header);
}

absl::Status Inference::ReadInput(InferRequest& message, float alpha) {
  const ModelInferRequest& header = message.header;
  if (header.inputs_size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "inputs: got ", header.inputs_size(), ", expected 1, named ", Quoted(model_->input_name)));
  }
  const auto& tensor = header.inputs(0);
  if (tensor.name() != model_->input_name) {
    return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(tensor.name()),
                                                   ": unexpected name, expected ",
                                                   Quoted(model_->input_name)));
  }
  const std::string input = absl::StrCat("input ", Quoted(tensor.name()));
  const auto dtype = CheckDType(*model_, tensor.datatype());
  if (!dtype.ok()) return dtype.status();
  auto spec = TensorSpec::Create(
      *dtype, {tensor.shape().data(), static_cast<std::size_t>(tensor.shape_size())});
  if (!spec.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(input, ": ", spec.status().message()));
  }
  spec_ = *std::move(spec);
  if (absl::Status shape = CheckShape(*model_, spec_->shape()); !shape.ok()) return shape;
  op_.emplace(*dtype, alpha);

  auto placement = ReadPlacement(input, tensor.parameters());
  if (!placement.ok()) return placement.status();
  if (!*placement) {
    auto elements = TakeElements(input, message, *dtype);
    if (!elements.ok()) return elements.status();
    data_ = *std::move(elements);
  } else {
    if (absl::Status none = CheckNoElements(input, message); !none.ok()) return none;
    auto range = FindRange(input, **placement);
    if (!range.ok()) return range.status();
    input_ = Placed{(*placement)->region, *std::move(range)};
  }
  const std::uint64_t bytes = input_ ? input_->range.bytes().size() : data_.bytes();
  if (bytes != spec_->bytes()) {
    return absl::InvalidArgumentError(absl::StrCat(input, ": got ", bytes, " bytes, expected ",
                                                   spec_->bytes(), " for ", Describe(*spec_)));
  }
  return absl::OkStatus();
}

absl::Status Inference::ReadOutput(const ModelInferRequest& header) {
  if (header.outputs_size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("outputs: got ", header.outputs_size(),
                                                   ", expected at most 1, named ",
                                                   Quoted(model_->output_name)));
  }
  if (header.outputs_size() == 1) {
    const auto& tensor = header.outputs(0);
    if (tensor.name() != model_->output_name) {
      return absl::InvalidArgumentError(absl::StrCat("output ", Quoted(tensor.name()),
                                                     ": unexpected name, expected ",
                                                     Quoted(model_->output_name)));
    }
    const std::string output = absl::StrCat("output ", Quoted(tensor.name()));
    auto placement = ReadPlacement(output, tensor.parameters());
    if (!placement.ok()) return placement.status();
    if (*placement) {
      if ((*placement)->byte_size < spec_->bytes()) {
        return absl::InvalidArgumentError(absl::StrCat(output, ": too small: room for ",
                                                       (*placement)->byte_size, " bytes, expected ",
                                                       spec_->bytes(), " for ", Describe(*spec_)));
      }
      auto range = FindRange(output, **placement);
      if (!range.ok()) return range.status();
      // Clients may offer more room than the result takes.
      *range = range->First(static_cast<std::size_t>(spec_->bytes()));
      if (input_ && Compare(input_->range, *range) == SharedRange::Overlap::kPartial) {
        return absl::InvalidArgumentError(
            absl::StrCat(output,
                         ": overlaps the input in shared memory, but is not the same "
                         "range"));
      }
      output_ = Placed{(*placement)->region, *std::move(range)};
    }
  }
  if (fresh_bytes() > max_message_bytes_) {
    return AnswerTooLarge(fresh_bytes(), max_message_bytes_);
  }
  return absl::OkStatus();
}

absl::StatusOr<SharedRange> Inference::FindRange(std::string_view tensor,
                                                 const Placement& placement) const {
  auto range = shared_memory_.Find(placement.region, placement.offset, placement.byte_size);
  if (range.ok()) return range;
  return absl::Status(range.status().code(),
                      absl::StrCat(absl::string_view(tensor.data(), tensor.size()), ": ",
                                   range.status().message()));
}

std::uint64_t Inference::fresh_bytes() const { return input_ && !output_ ? spec_->bytes() : 0; }

bool Inference::in_place() const {
  return input_ && output_ && Compare(input_->range, output_->range) == SharedRange::Overlap::kSame;
}

std::uint64_t Inference::shared_bytes() const {
  const std::uint64_t ranges = (input_ ? 1U : 0U) + (output_ && !in_place() ? 1U : 0U);
  return ranges * spec_->bytes();
}

Work Inference::TakeWork() {
  if (!input_ && !output_) return {*op_, data_.MutableSegments()};
  // Going on in what replaces a lost region would fill the server's own memory.
  auto is_void = [this] { return LostRegion() != nullptr; };
  if (!input_) {
    return {*op_, data_.MutableSegments(), output_->range.bytes().data(), std::move(is_void)};
  }
  std::byte* y = nullptr;
  if (!output_) {
    data_.Append(grpc::Slice(static_cast<std::size_t>(spec_->bytes())));
    if (!data_.empty()) {
      // Just made, ours alone; the bytes of a short one stand within the slice object itself.
      y = reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(data_.slices()[0].begin()));
    }
  } else if (!in_place()) {
    y = output_->range.bytes().data();
  }
  return {.op = *op_,
          .x = OneRange(input_->range.bytes()),
          .y = y,
          .is_void = std::move(is_void),
          .in_cache = false};
}

const std::string* Inference::LostRegion() const {
  for (const std::optional<Placed>* placed : {&input_, &output_}) {
    if (*placed && (*placed)->range.lost()) return &(*placed)->region;
  }
  return nullptr;
}

absl::Status Inference::Check(const absl::Status& computed) const {
  const std::string* const lost = LostRegion();
  return lost == nullptr ? computed : RegionLost(*lost);
}

grpc::ByteBuffer Inference::EncodeResponse(Within within) {
  const auto begun = Clock::now();
  ModelInferResponse header;
  header.set_model_name(model_->name);
  header.set_model_version(absl::StrCat(model_->version));
  header.set_id(id_);
  auto* output = header.add_outputs();
  output->set_name(model_->output_name);
  const std::string_view datatype = OpenInferenceName(spec_->dtype());
  output->set_datatype(datatype.data(), datatype.size());
  const auto dims = spec_->shape().dims();
  output->mutable_shape()->Add(dims.begin(), dims.end());
  // Every output has its raw entry, an empty one when the elements went to shared memory: Triton's
  // C++ client counts on it.
  std::array<Payload, 1> raw;
  if (!output_) raw[0] = std::move(data_);
  grpc::ByteBuffer response;
  if (within == Within::kStream) {
    (*header.mutable_parameters())["triton_final_response"].set_bool_param(true);
    response = EncodeModelStreamInferResponse(header, raw);
  } else {
    response = EncodeModelInferResponse(header, raw);
  }
  encoding_ = Clock::now() - begun;
  return response;
}

grpc::ByteBuffer Inference::EncodeError(const absl::Status& status) const {
  inference::ModelStreamInferResponse response;
  const grpc::Status told = ToGrpcStatus(status);
  // The id in the text too: Triton's Python client hands on nothing else.
  response.set_error_message(
      id_.empty() ? told.error_message()
                  : absl::StrCat("request ", Quoted(id_), ": ", told.error_message()));
  ModelInferResponse& header = *response.mutable_infer_response();
  header.set_id(id_);
  if (model_) {
    header.set_model_name(model_->name);
    header.set_model_version(absl::StrCat(model_->version));
  }
  auto& parameters = *header.mutable_parameters();
  parameters["triton_final_response"].set_bool_param(true);
  parameters["grpc_status_code"].set_int64_param(told.error_code());
  return SerializeMessage(response);
}

void Inference::Record(const absl::Status& status, const Compute* compute) {
  if (!model_) return;
  InferDurations durations;
  durations.total = Clock::now() - arrived_;
  durations.compute_input = taken_ - arrived_;
  durations.compute_output = encoding_;
  if (compute != nullptr) {
    durations.queue = compute->queue_time();
    durations.compute_infer = compute->kernel_time();
  }
  model_->statistics->Record(durations, status.ok());
}

}  // namespace trelu::server
