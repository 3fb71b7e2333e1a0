// What ModelStreamInfer makes of its messages: one answer to each, in order, errors within the
// stream.
#include "server/inference/inference.h"
#include "server/inference/inference_service.h"
#include "server/refusal.h"

namespace trelu::server {
namespace {

// Triton's way to ask for a stream that ends with its first error.
bool WantsGrpcErrors(const grpc::ServerContext& context) {
  const auto found = context.client_metadata().find("triton_grpc_error");
  return found != context.client_metadata().end() && found->second == "true";
}

class InferConversation final : public Conversation {
 public:
  InferConversation(const Corridor& corridor, const InferenceRooms& rooms, CallScope& call,
                    const grpc::ServerContext& context)
      : corridor_(corridor),
        rooms_(rooms),
        call_(call),
        call_deadline_(context.deadline()),
        ends_with_errors_(WantsGrpcErrors(context)) {}

  absl::Status Take(grpc::ByteBuffer& message) override {
    Begin();
    absl::Status taken = inference_->Take(message, call_deadline_);
    if (!taken.ok()) return taken;
    call_.AddRequestBytes(inference_->message_payload_bytes());
    // Only now, so that the refusal has the request's id.
    return corridor_.Open();
  }

  std::uint64_t fresh_bytes() const override { return inference_->fresh_bytes(); }
  std::uint64_t shared_bytes() const override { return inference_->shared_bytes(); }

  std::optional<Work> TakeWork() override { return inference_->TakeWork(); }

  std::chrono::system_clock::time_point deadline() const override { return inference_->deadline(); }

  std::optional<grpc::ByteBuffer> Answer(absl::Status& status, const Compute* compute) override {
    // A message that was too large to be looked at.
    if (!inference_) Begin();
    std::optional<grpc::ByteBuffer> answer;
    if (compute != nullptr) status = inference_->Check(status);
    if (status.ok()) {
      call_.AddResponseBytes(inference_->response_payload_bytes());
      answer = inference_->EncodeResponse(Inference::Within::kStream);
    }
    inference_->Record(status, compute);
    if (!status.ok() && !ends_with_errors_) {
      answer = inference_->EncodeError(status);
      call_.RequestFailed(status, inference_->id());
      status = absl::OkStatus();
    }
    inference_.reset();
    return answer;
  }

  // Each answer stands alone, and callers keep such streams open for hours.
  bool between_tensors() const override { return true; }
  bool at_rest() const override { return true; }

  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  void Begin() {
    inference_.emplace(rooms_.models, rooms_.shared_memory, corridor_.options.max_message_bytes);
  }

  const Corridor& corridor_;
  const InferenceRooms& rooms_;
  CallScope& call_;
  const std::chrono::system_clock::time_point call_deadline_;
  const bool ends_with_errors_;
  std::optional<Inference> inference_;
};

}  // namespace

std::unique_ptr<Conversation> InferenceService::BeginModelStreamInfer(
    CallScope& call, const grpc::ServerContext& context) const {
  return std::make_unique<InferConversation>(corridor_, rooms_, call, context);
}

}  // namespace trelu::server
