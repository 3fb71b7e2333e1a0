// What ApplyStream makes of its messages: tensors of any size, in messages cut anywhere.
#include <utility>

#include "server/tensor_stream.h"
#include "server/thresholded_relu_service.h"

namespace trelu::server {
namespace {

class ApplyConversation final : public Conversation {
 public:
  ApplyConversation(CallScope& call, const grpc::ServerContext& context)
      : call_(call), deadline_(context.deadline()) {}

  absl::Status Take(grpc::ByteBuffer& message) override {
    auto decoded = DecodeApplyRequest(message);
    if (!decoded.ok()) return decoded.status();
    call_.AddRequestBytes(decoded->data.bytes());
    auto elements = tensors_.Take(*std::move(decoded));
    if (!elements.ok()) return elements.status();
    elements_ = *std::move(elements);
    return absl::OkStatus();
  }

  std::optional<Work> TakeWork() override {
    if (elements_.empty()) return std::nullopt;
    return Work{tensors_.op(), elements_.MutableSegments()};
  }

  std::chrono::system_clock::time_point deadline() const override { return deadline_; }

  std::optional<grpc::ByteBuffer> Answer(absl::Status& status, const Compute*) override {
    if (!status.ok()) return std::nullopt;
    call_.AddResponseBytes(elements_.bytes());
    return tensors_.EncodeResult(std::exchange(elements_, Payload()));
  }

  bool between_tensors() const override { return tensors_.complete(); }

  absl::Status Finish() override { return tensors_.Finish(); }

 private:
  CallScope& call_;
  const std::chrono::system_clock::time_point deadline_;
  TensorStream tensors_;
  Payload elements_;
};

}  // namespace

std::unique_ptr<Conversation> ThresholdedReluService::BeginApplyStream(
    CallScope& call, const grpc::ServerContext& context) {
  return std::make_unique<ApplyConversation>(call, context);
}

}  // namespace trelu::server
