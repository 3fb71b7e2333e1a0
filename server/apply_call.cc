// One Apply call, from the wire to the kernel and back.
#include <optional>
#include <utility>

#include "proto/apply_codec.h"
#include "server/compute.h"
#include "server/tensor_request.h"
#include "server/thresholded_relu_service.h"
#include "server/unary_call.h"

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
  UnaryCall call(corridor_, service_, apply_, queue);
  if (!co_await call.Arrival()) co_return;
  Apply(queue);

  auto tensor = Enter(corridor_, call.scope(), call.message());
  absl::Status status = tensor.status();
  if (status.ok()) {
    Compute compute(corridor_, queue, call.end(), call.context().deadline(),
                    Work{tensor->request.op, tensor->data.MutableSegments()});
    status = co_await compute;
  }
  grpc::ByteBuffer response;
  if (status.ok()) {
    call.scope().AddResponseBytes(tensor->data.bytes());
    response = EncodeApplyResponse(&tensor->request.spec, std::move(tensor->data));
  }
  co_await call.Finish(status, response);
}

}  // namespace trelu::server
