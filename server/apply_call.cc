// One Apply call, from the wire to the kernel and back.
#include <optional>
#include <utility>

#include "proto/apply_codec.h"
#include "server/tensor_request.h"
#include "server/thresholded_relu_service.h"

namespace trelu::server {
namespace {

// A tensor that was let in, with all of its bytes.
struct AdmittedTensor {
  TensorRequest request;
  Payload data;
  Admission::Ticket ticket;
};

absl::StatusOr<AdmittedTensor> Enter(Corridor& corridor, CallScope& call,
                                     grpc::ByteBuffer& message) {
  const std::size_t message_bytes = message.Length();
  if (absl::Status open = corridor.Open(); !open.ok()) return open;
  if (absl::Status size = corridor.CheckSize(message_bytes); !size.ok()) return size;
  auto decoded = DecodeApplyRequest(message);
  if (!decoded.ok()) return decoded.status();
  call.AddRequestBytes(decoded->data.bytes());
  if (!decoded->tensor) return absl::InvalidArgumentError("tensor: missing");
  auto request = ReadTensorRequest(*decoded->tensor, decoded->alpha);
  if (!request.ok()) return request.status();
  if (absl::Status bytes = CheckBytes(request->spec, decoded->data.bytes()); !bytes.ok()) {
    return bytes;
  }
  auto ticket = corridor.Admit(message_bytes);
  if (!ticket.ok()) return ticket.status();
  return AdmittedTensor{*std::move(request), std::move(decoded->data), *std::move(ticket)};
}

}  // namespace

Task ThresholdedReluService::Apply(EventQueue& queue) {
  const LiveCount::Guard frame(corridor_.frames);
  grpc::ServerContext context;
  CallEnd end;
  context.AsyncNotifyWhenDone(end.tag());
  grpc::ByteBuffer message;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder(&context);
  const bool arrived = co_await Operation([&](void* tag) {
    service_.RequestApply(&context, &message, &responder, queue.get(), queue.get(), tag);
  });
  if (!arrived) co_return;
  Apply(queue);

  const LiveCount::Guard in_flight(corridor_.calls);
  CallScope call(corridor_, apply_, context);
  auto tensor = Enter(corridor_, call, message);
  absl::Status status = tensor.status();
  if (status.ok()) {
    Compute compute(corridor_, queue, context, end, tensor->request.op, tensor->data);
    status = co_await compute;
  }
  bool sent = false;
  const grpc::Status to_send = call.ToSend(status);
  if (status.ok()) {
    const grpc::ByteBuffer response =
        EncodeApplyResponse(&tensor->request.spec, std::move(tensor->data));
    sent = co_await Operation([&](void* tag) { responder.Finish(response, to_send, tag); });
  } else {
    sent = co_await Operation([&](void* tag) { responder.FinishWithError(to_send, tag); });
  }
  co_await end;
  call.End(status, sent && !context.IsCancelled());
}

}  // namespace trelu::server
