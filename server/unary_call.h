// One unary call from its arrival to its end: the bracket around every unary handler's own steps.
#ifndef TRELU_SERVER_UNARY_CALL_H_
#define TRELU_SERVER_UNARY_CALL_H_

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <coroutine>
#include <optional>

#include "server/call_scope.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/operation.h"
#include "server/raw_service.h"

namespace trelu::server {

// A handler's first local; it counts the handler's frame, and the call while it is in flight.
class UnaryCall {
 public:
  UnaryCall(Corridor& corridor, RawService& service, const Method& method, EventQueue& queue);
  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  // The first wait: `co_await call.Arrival()` gives false when the server stops and no call came;
  // then the handler ends. After it the handler arms its successor.
  auto Arrival() { return ArrivalOperation(*this); }

  // From the arrival on.
  grpc::ByteBuffer& message() { return message_; }
  const grpc::ServerContext& context() const { return context_; }
  const CallEnd& end() const { return end_; }
  CallScope& scope() { return *scope_; }

  // The last wait: sends `status`, with `response` when it is OK, and waits for the call's end.
  // Both are named locals of the handler's.
  auto Finish(const absl::Status& status, const grpc::ByteBuffer& response) {
    return FinishOperation(*this, status, response);
  }

 private:
  class ArrivalOperation final : public Event {
   public:
    explicit ArrivalOperation(UnaryCall& call) : call_(call) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiting);
    bool await_resume();

   private:
    void Fire(bool ok) override;
    UnaryCall& call_;
    std::coroutine_handle<> waiting_;
    bool arrived_ = false;
  };

  class FinishOperation final : public Event {
   public:
    FinishOperation(UnaryCall& call, const absl::Status& status, const grpc::ByteBuffer& response)
        : call_(call), status_(status), response_(response) {}
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume();

   private:
    void Fire(bool ok) override;
    UnaryCall& call_;
    const absl::Status& status_;
    const grpc::ByteBuffer& response_;
    std::coroutine_handle<> waiting_;
    bool sent_ = false;
  };

  const LiveCount::Guard frame_;
  Corridor& corridor_;
  RawService& service_;
  const Method& method_;
  EventQueue& queue_;
  grpc::ServerContext context_;
  CallEnd end_;
  grpc::ByteBuffer message_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder_;
  std::optional<LiveCount::Guard> in_flight_;
  std::optional<CallScope> scope_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_UNARY_CALL_H_
