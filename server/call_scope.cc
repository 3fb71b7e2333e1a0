#include "server/call_scope.h"

#include <absl/strings/str_cat.h>

#include "server/log.h"
#include "server/refusal.h"
#include "server/status.h"

namespace trelu::server {
namespace {

// The caller's trace, so that its log and ours can be joined (W3C Trace Context, traceparent).
std::string TraceParent(const grpc::ServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("traceparent");
  if (found == metadata.end()) return {};
  constexpr std::size_t kTraceParentBytes = 55;
  return Printable({found->second.data(), found->second.size()}, kTraceParentBytes);
}

}  // namespace

CallScope::CallScope(Corridor& corridor, const Method& method, grpc::ServerContext& context)
    : corridor_(corridor),
      method_(method),
      context_(context),
      arrived_(std::chrono::steady_clock::now()) {
  method_.metrics.Started();
}

void CallScope::AddRequestBytes(std::uint64_t bytes) {
  request_bytes_ += bytes;
  corridor_.metrics.RequestBytes(bytes);
}

void CallScope::AddResponseBytes(std::uint64_t bytes) { corridor_.metrics.ResponseBytes(bytes); }

void CallScope::RequestFailed(const absl::Status& status, std::string_view id) {
  if (absl::IsCancelled(status)) return;
  corridor_.metrics.Rejected(ReasonOf(status));
  if (corridor_.options.log_calls == LogCalls::kNone) return;
  const std::string code = absl::StatusCodeToString(status.code());
  LogSometimes(absl::StrCat("request ", code), LogLevel::kWarning, "request failed",
               {{"method", method_.name()},
                {"code", code},
                {"reason", ToGrpcStatus(status).error_message()},
                {"request", id},
                {"peer", context_.peer()},
                {"traceparent", TraceParent(context_)}});
}

grpc::Status CallScope::ToSend(const absl::Status& status) {
  if (const auto pushback = PushbackOf(status)) {
    context_.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(pushback->count()));
  }
  return ToGrpcStatus(status);
}

void CallScope::End(const absl::Status& status, bool told) {
  const absl::Status ended = told || CutByServer(status) ? status : CallerGone(context_.deadline());
  const auto handling = std::chrono::steady_clock::now() - arrived_;
  const grpc::Status grpc_status = ToGrpcStatus(ended);
  // In this order: who sees the end sees its reason too.
  if (!ended.ok()) corridor_.metrics.Rejected(ReasonOf(ended));
  method_.metrics.Handled(grpc_status.error_code(), handling);

  const LogCalls wanted = corridor_.options.log_calls;
  if (wanted == LogCalls::kNone || (wanted == LogCalls::kFailed && ended.ok())) return;
  const std::string peer = context_.peer();
  const std::string traceparent = TraceParent(context_);
  const std::string code = absl::StatusCodeToString(ended.code());
  const std::string reason = grpc_status.error_message();
  const std::initializer_list<LogField> fields = {
      {"method", method_.name()},
      {"code", code},
      {"reason", reason},
      {"peer", peer},
      {"bytes", static_cast<std::int64_t>(request_bytes_)},
      {"seconds", std::chrono::duration<double>(handling).count()},
      {"traceparent", traceparent}};
  if (wanted == LogCalls::kAll) {
    Log(ended.ok() ? LogLevel::kInfo : LogLevel::kWarning, "call", fields);
  } else {
    LogSometimes(code, LogLevel::kWarning, "call failed", fields);
  }
}

}  // namespace trelu::server
