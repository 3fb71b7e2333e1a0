// The bracket around a call: counted, timed and logged in one place.
#ifndef TRELU_SERVER_CALL_SCOPE_H_
#define TRELU_SERVER_CALL_SCOPE_H_

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "server/corridor.h"
#include "server/metrics.h"

namespace trelu::server {

// A gRPC method as logs and metrics name it. Made at start.
struct Method {
  Method(Metrics& all_metrics, std::string type, std::string service, std::string method)
      : name(service + "/" + method),
        metrics(all_metrics.AddMethod(std::move(type), std::move(service), std::move(method))) {}

  std::string name;
  MethodMetrics& metrics;
};

// Made when a call arrives, ended once, gone with the handler's frame.
class CallScope {
 public:
  // Both stay as long as the scope.
  CallScope(Corridor& corridor, const Method& method, grpc::ServerContext& context);

  // Payload that came, for the metrics and the log line.
  void AddRequestBytes(std::uint64_t bytes);

  // What to send for `status`, whose push-back, if it has one, goes into the trailing metadata.
  grpc::Status ToSend(const absl::Status& status);

  // The call is over: `status` is what was to be sent, `told` whether the caller got it; if not,
  // what counts is that the caller is gone. One line in the log at most.
  void End(const absl::Status& status, bool told);

 private:
  Corridor& corridor_;
  const Method& method_;
  grpc::ServerContext& context_;
  const std::chrono::steady_clock::time_point arrived_;
  std::uint64_t request_bytes_ = 0;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_CALL_SCOPE_H_
