#include "server/health_service.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/support/async_stream.h>

#include <array>
#include <string>

#include "server/call_scope.h"
#include "server/log.h"
#include "server/refusal.h"

namespace trelu::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

namespace {

constexpr std::string_view kLiveness = "liveness";
constexpr std::array<std::string_view, 5> kFollowServer = {
    "", "readiness", "trelu.v1.ThresholdedRelu", "trelu.v1.Server",
    "inference.GRPCInferenceService"};

// INVALID_ARGUMENT for a name longer than gRPC's own health service takes.
absl::Status CheckName(const HealthCheckRequest& request) {
  constexpr std::size_t kMaxNameBytes = 200;
  const std::size_t bytes = request.service().size();
  if (bytes <= kMaxNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("service: name of ", bytes, " bytes, at most ", kMaxNameBytes));
}

}  // namespace

HealthService::HealthService(Corridor& corridor)
    : corridor_(corridor),
      service_(*HealthCheckRequest::descriptor()->file()->FindServiceByName("Health"),
               corridor.metrics),
      methods_(corridor, service_),
      watch_(service_.Add("Watch")) {
  methods_.Add<HealthCheckRequest, HealthCheckResponse>(
      "Check", [this](const HealthCheckRequest& request) { return Check(request); });
}

void HealthService::Accept(EventQueue& queue) {
  methods_.Accept(queue);
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

absl::StatusOr<HealthCheckResponse> HealthService::Check(const HealthCheckRequest& request) const {
  if (absl::Status name = CheckName(request); !name.ok()) return name;
  HealthCheckResponse response;
  response.set_status(StatusOf(request.service()));
  if (response.status() == HealthCheckResponse::SERVICE_UNKNOWN) {
    return absl::NotFoundError(
        absl::StrCat("service: unknown name '", Printable(request.service(), 200), "'"));
  }
  return response;
}

Task HealthService::Watch(EventQueue& queue) {
  const LiveCount::Guard frame(corridor_.frames);
  grpc::ServerContext context;
  AnyOperation any;
  PendingOperation end(any);
  context.AsyncNotifyWhenDone(end.Start());
  grpc::ByteBuffer request_bytes;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer(&context);
  const bool arrived = co_await Operation(
      [&](void* tag) { service_.Request(watch_, context, request_bytes, writer, queue, tag); });
  if (!arrived) co_return;
  Watch(queue);

  // Not counted among the calls in flight: a drain does not wait for watchers, it ends them.
  CallScope call(corridor_, watch_, context);
  Broadcast::Listener changed(changed_, queue, any);
  HealthCheckRequest request;
  absl::Status status = ParseMessage(request_bytes, request);
  if (status.ok()) status = CheckName(request);
  HealthCheckResponse response;
  bool told_once = false;
  bool sent = true;
  while (status.ok() && sent && end.pending()) {
    const ServingStatus now = StatusOf(request.service());
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
