#include "server/tensor_stream.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace trelu::server {

absl::Status TensorStream::Error(const absl::Status& status) const {
  return {status.code(), absl::StrCat("tensor ", index_, ": ", status.message())};
}

absl::Status TensorStream::Begin(const ApplyMessage& message) {
  if (tensor_ && !complete()) return Finish();
  ++index_;
  auto request = ReadTensorRequest(*message.tensor, message.alpha);
  if (!request.ok()) return Error(request.status());
  tensor_ = *std::move(request);
  received_ = 0;
  result_begun_ = false;
  return absl::OkStatus();
}

absl::StatusOr<Payload> TensorStream::Take(ApplyMessage message) {
  if (message.tensor) {
    if (absl::Status begun = Begin(message); !begun.ok()) return begun;
  } else if (!tensor_) {
    return absl::InvalidArgumentError("tensor: missing from the stream's first message");
  } else if (message.alpha) {
    return Error(absl::InvalidArgumentError("alpha: only allowed together with tensor"));
  }

  const std::uint64_t left = tensor_->spec.bytes() - received_;
  if (message.data.bytes() > left) {
    return Error(absl::InvalidArgumentError(absl::StrCat(
        "data: got more than the ", tensor_->spec.bytes(), " bytes of ", Describe(tensor_->spec))));
  }
  received_ += message.data.bytes();
  Payload elements = std::exchange(partial_element_, Payload());
  elements.Append(std::move(message.data));
  partial_element_ = elements.SplitTail(elements.bytes() % ElementBytes(tensor_->spec.dtype()));
  return elements;
}

std::optional<grpc::ByteBuffer> TensorStream::EncodeResult(Payload computed) {
  if (computed.empty() && tensor_->spec.bytes() > 0) return std::nullopt;
  if (std::exchange(result_begun_, true)) {
    if (computed.empty()) return std::nullopt;
    return EncodeApplyResponse(nullptr, std::move(computed));
  }
  return EncodeApplyResponse(&tensor_->spec, std::move(computed));
}

absl::Status TensorStream::Finish() const {
  if (!tensor_) return absl::InvalidArgumentError("stream: ended without any message");
  if (complete()) return absl::OkStatus();
  const std::size_t element_bytes = ElementBytes(tensor_->spec.dtype());
  return Error(absl::InvalidArgumentError(
      absl::StrCat("data: got ", received_, " bytes, expected ", tensor_->spec.bytes(), " for ",
                   Describe(tensor_->spec),
                   received_ % element_bytes != 0 ? "; the last element is incomplete" : "")));
}

}  // namespace trelu::server
