#include "client/questions.h"

#include "client/status.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu {

absl::StatusOr<ServingStatus> AskHealth(const std::shared_ptr<grpc::Channel>& channel,
                                        const std::string& service, const Deadline& deadline) {
  grpc::ClientContext context;
  deadline.ApplyTo(context);
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status =
      grpc::health::v1::Health::NewStub(channel)->Check(&context, request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return ServingStatus::kServiceUnknown;
  if (!status.ok()) return FromGrpc(status);
  return response.status() == grpc::health::v1::HealthCheckResponse::SERVING
             ? ServingStatus::kServing
             : ServingStatus::kNotServing;
}

absl::StatusOr<ServerInfo> AskInfo(const std::shared_ptr<grpc::Channel>& channel,
                                   const Deadline& deadline) {
  grpc::ClientContext context;
  deadline.ApplyTo(context);
  v1::GetInfoResponse response;
  const grpc::Status status =
      v1::Server::NewStub(channel)->GetInfo(&context, v1::GetInfoRequest(), &response);
  if (!status.ok()) return FromGrpc(status);
  ServerInfo info;
  info.version = response.version();
  info.uptime = std::chrono::duration<double>(response.uptime_seconds());
  info.kernel_level = response.kernel_level();
  info.workers = response.workers();
  info.inline_bytes = response.inline_bytes();
  info.max_message_bytes = response.max_message_bytes();
  info.max_inflight_bytes = response.max_inflight_bytes();
  for (const int number : response.dtypes()) {
    if (const auto dtype = DTypeFromOnnx(number); dtype.has_value()) info.dtypes.push_back(*dtype);
  }
  info.shared_memory_prefix = response.shared_memory_prefix();
  return info;
}

}  // namespace trelu
