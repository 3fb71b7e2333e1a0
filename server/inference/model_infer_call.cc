// One ModelInfer call, from the wire to the kernel and back.
#include <optional>

#include "server/inference/inference.h"
#include "server/inference/inference_service.h"
#include "server/unary_call.h"

namespace trelu::server {
namespace {

struct Shares {
  Admission::Ticket memory;
  std::optional<Admission::Ticket> shared;  // while it is worked on
};

absl::StatusOr<Shares> Enter(Corridor& corridor, UnaryCall& call, Inference& inference) {
  const std::size_t message_bytes = call.message().Length();
  if (absl::Status open = corridor.Open(); !open.ok()) return open;
  if (absl::Status size = corridor.CheckSize(message_bytes); !size.ok()) return size;
  if (absl::Status taken = inference.Take(call.message(), call.context().deadline()); !taken.ok()) {
    return taken;
  }
  call.scope().AddRequestBytes(inference.message_payload_bytes());
  auto memory = corridor.Admit(message_bytes + inference.fresh_bytes());
  if (!memory.ok()) return memory.status();
  auto shared = corridor.AdmitShared(inference.shared_bytes());
  if (!shared.ok()) return shared.status();
  return Shares{*std::move(memory), *std::move(shared)};
}

}  // namespace

Task InferenceService::ModelInfer(EventQueue& queue) {
  UnaryCall call(corridor_, service_, model_infer_, queue);
  if (!co_await call.Arrival()) co_return;
  ModelInfer(queue);

  Inference inference(rooms_.models, rooms_.shared_memory, corridor_.options.max_message_bytes);
  auto shares = Enter(corridor_, call, inference);
  absl::Status status = shares.status();
  grpc::ByteBuffer response;
  if (status.ok()) {
    Compute compute(corridor_, queue, call.end(), inference.deadline(), inference.TakeWork());
    const absl::Status computed = co_await compute;
    shares->shared.reset();
    status = inference.Check(computed);
    if (status.ok()) {
      call.scope().AddResponseBytes(inference.response_payload_bytes());
      response = inference.EncodeResponse(Inference::Within::kUnary);
    }
    inference.Record(status, &compute);
  } else {
    inference.Record(status, nullptr);
  }
  co_await call.Finish(status, response);
}

}  // namespace trelu::server
