// The bracket around a call: counted, timed and logged in one place.
#ifndef TRELU_SERVER_CALL_SCOPE_H_
#define TRELU_SERVER_CALL_SCOPE_H_

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "server/corridor.h"
#include "server/raw_service.h"

namespace trelu::server {

// Made when a call arrives, ended once, gone with the handler's frame.
class CallScope {
 public:
  // Both stay as long as the scope.
  CallScope(Corridor& corridor, const Method& method, grpc::ServerContext& context);

  // Payload that came, for the metrics and the log line.
  void AddRequestBytes(std::uint64_t bytes);
  // Payload of an answer, for the metrics.
  void AddResponseBytes(std::uint64_t bytes);

  // A request within the call failed, and the call goes on: counted, with a line in the log. `id`
  // is the caller's name for it. Nothing when the caller is gone, which is the call's end to tell.
  void RequestFailed(const absl::Status& status, std::string_view id);

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
