#include "server/info_service.h"

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "core/thresholded_relu.h"
#include "server/small_message.h"
#include "server/version.h"
#include "trelu/dtype.h"

namespace trelu::server {

InfoService::InfoService(Corridor& corridor)
    : corridor_(corridor), get_info_(corridor.metrics, "unary", "trelu.v1.Server", "GetInfo") {}

void InfoService::Accept(EventQueue& queue) { GetInfo(queue); }

v1::GetInfoResponse InfoService::Describe() const {
  v1::GetInfoResponse info;
  info.set_version(kVersion);
  const auto uptime = std::chrono::steady_clock::now() - started_;
  info.set_uptime_seconds(std::chrono::duration<double>(uptime).count());
  info.set_kernel_level(std::string(Name(SupportedKernelLevels().back())));
  info.set_workers(static_cast<std::uint32_t>(corridor_.workers.width()));
  info.set_inline_bytes(corridor_.options.inline_bytes);
  info.set_max_message_bytes(corridor_.options.max_message_bytes);
  info.set_max_inflight_bytes(corridor_.options.max_inflight_bytes);
  for (const DType dtype : kAllDTypes) info.add_dtypes(static_cast<v1::DataType>(dtype));
  return info;
}

Task InfoService::GetInfo(EventQueue& queue) {
  const LiveCount::Guard frame(corridor_.frames);
  grpc::ServerContext context;
  CallEnd end;
  context.AsyncNotifyWhenDone(end.tag());
  grpc::ByteBuffer request;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder(&context);
  const bool arrived = co_await Operation([&](void* tag) {
    service_.RequestGetInfo(&context, &request, &responder, queue.get(), queue.get(), tag);
  });
  if (!arrived) co_return;
  GetInfo(queue);

  const LiveCount::Guard in_flight(corridor_.calls);
  CallScope call(corridor_, get_info_, context);
  const absl::Status status = ParseMessage<v1::GetInfoRequest>(request).status();
  const grpc::ByteBuffer response = SerializeMessage(Describe());
  const grpc::Status to_send = call.ToSend(status);
  const bool sent = co_await Operation([&](void* tag) {
    if (to_send.ok()) {
      responder.Finish(response, to_send, tag);
    } else {
      responder.FinishWithError(to_send, tag);
    }
  });
  co_await end;
  call.End(status, sent && !context.IsCancelled());
}

}  // namespace trelu::server
