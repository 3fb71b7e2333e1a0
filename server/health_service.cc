#include "server/health_service.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <string>
#include <utility>

#include "server/log.h"
#include "server/refusal.h"
#include "server/small_message.h"

namespace trelu::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr std::string_view kLiveness = "liveness";
constexpr std::array<std::string_view, 4> kFollowServer = {
    "", "readiness", "trelu.v1.ThresholdedRelu", "trelu.v1.Server"};

// The name that is asked about.
absl::StatusOr<std::string> ReadName(grpc::ByteBuffer& message) {
  auto request = ParseMessage<HealthCheckRequest>(message);
  if (!request.ok()) return request.status();
  // As long as the names that gRPC's own health service takes.
  constexpr std::size_t kMaxNameBytes = 200;
  const std::size_t bytes = request->service().size();
  if (bytes > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("service: name of ", bytes, " bytes, at most ", kMaxNameBytes));
  }
  return std::move(*request->mutable_service());
}

}  // namespace

HealthService::HealthService(Corridor& corridor)
    : corridor_(corridor),
      check_(corridor.metrics, "unary", "grpc.health.v1.Health", "Check"),
      watch_(corridor.metrics, "server_stream", "grpc.health.v1.Health", "Watch") {}

void HealthService::Accept(EventQueue& queue) {
  Check(queue);
  Watch(queue);
}

void HealthService::SetServing(bool serving) {
  serving_.store(serving, std::memory_order_release);
  changed_.Send();
}

void HealthService::EndWatches() {
  ending_.store(true, std::memory_order_release);
  changed_.Send();
}

HealthService::ServingStatus HealthService::StatusOf(std::string_view name) const {
  if (name == kLiveness) return HealthCheckResponse::SERVING;
  for (const std::string_view known : kFollowServer) {
    if (name == known) {
      return serving_.load(std::memory_order_acquire) ? HealthCheckResponse::SERVING
                                                      : HealthCheckResponse::NOT_SERVING;
    }
  }
  return HealthCheckResponse::SERVICE_UNKNOWN;
}

Task HealthService::Check(EventQueue& queue) {
  const LiveCount::Guard frame(corridor_.frames);
  grpc::ServerContext context;
  CallEnd end;
  context.AsyncNotifyWhenDone(end.tag());
  grpc::ByteBuffer request;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder(&context);
  const bool arrived = co_await Operation([&](void* tag) {
    service_.RequestCheck(&context, &request, &responder, queue.get(), queue.get(), tag);
  });
  if (!arrived) co_return;
  Check(queue);

  const LiveCount::Guard in_flight(corridor_.calls);
  CallScope call(corridor_, check_, context);
  const absl::StatusOr<std::string> name = ReadName(request);
  absl::Status status = name.status();
  HealthCheckResponse response;
  if (status.ok()) {
    response.set_status(StatusOf(*name));
    if (response.status() == HealthCheckResponse::SERVICE_UNKNOWN) {
      status =
          absl::NotFoundError(absl::StrCat("service: unknown name '", Printable(*name, 200), "'"));
    }
  }
  const grpc::ByteBuffer message = SerializeMessage(response);
  const grpc::Status to_send = call.ToSend(status);
  const bool sent = co_await Operation([&](void* tag) {
    if (to_send.ok()) {
      responder.Finish(message, to_send, tag);
    } else {
      responder.FinishWithError(to_send, tag);
    }
  });
  co_await end;
  call.End(status, sent && !context.IsCancelled());
}

Task HealthService::Watch(EventQueue& queue) {
  const LiveCount::Guard frame(corridor_.frames);
  grpc::ServerContext context;
  AnyOperation any;
  PendingOperation end(any);
  context.AsyncNotifyWhenDone(end.Start());
  grpc::ByteBuffer request;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer(&context);
  const bool arrived = co_await Operation([&](void* tag) {
    service_.RequestWatch(&context, &request, &writer, queue.get(), queue.get(), tag);
  });
  if (!arrived) co_return;
  Watch(queue);

  // Not counted among the calls in flight: a drain does not wait for watchers, it ends them.
  CallScope call(corridor_, watch_, context);
  Broadcast::Listener changed(changed_, queue, any);
  const absl::StatusOr<std::string> name = ReadName(request);
  absl::Status status = name.status();
  HealthCheckResponse response;
  bool told_once = false;
  bool sent = true;
  while (status.ok() && sent && end.pending()) {
    const ServingStatus now = StatusOf(*name);
    if (!told_once || now != response.status()) {
      told_once = true;
      response.set_status(now);
      const grpc::ByteBuffer message = SerializeMessage(response);
      sent = co_await Operation([&](void* tag) { writer.Write(message, tag); });
    } else if (ending_.load(std::memory_order_acquire)) {
      status = Draining();
    } else {
      co_await any;
      changed.TakeCompletion();
    }
  }
  if (status.ok()) status = CallerGone(context.deadline());
  const grpc::Status to_send = call.ToSend(status);
  sent = co_await Operation([&](void* tag) { writer.Finish(to_send, tag); });
  changed.Stop();
  while (end.pending() || changed.pending()) co_await any;
  call.End(status, sent && !context.IsCancelled());
}

}  // namespace trelu::server
