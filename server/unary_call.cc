#include "server/unary_call.h"

#include <type_traits>

namespace trelu::server {

UnaryCall::UnaryCall(Corridor& corridor, RawService& service, const Method& method,
                     EventQueue& queue)
    : frame_(corridor.frames),
      corridor_(corridor),
      service_(service),
      method_(method),
      queue_(queue),
      responder_(&context_) {
  // g++ 12.2 destroys a co_await temporary's members twice.
  static_assert(std::is_trivially_destructible_v<ArrivalOperation>);
  static_assert(std::is_trivially_destructible_v<FinishOperation>);
  context_.AsyncNotifyWhenDone(end_.tag());
}

void UnaryCall::ArrivalOperation::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  call_.service_.Request(call_.method_, call_.context_, call_.message_, call_.responder_,
                         call_.queue_, tag());
}

void UnaryCall::ArrivalOperation::Fire(bool ok) {
  arrived_ = ok;
  waiting_.resume();
}

bool UnaryCall::ArrivalOperation::await_resume() {
  if (!arrived_) return false;
  call_.in_flight_.emplace(call_.corridor_.calls);
  call_.scope_.emplace(call_.corridor_, call_.method_, call_.context_);
  return true;
}

void UnaryCall::FinishOperation::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  const grpc::Status status = call_.scope_->ToSend(status_);
  if (status.ok()) {
    call_.responder_.Finish(response_, status, tag());
  } else {
    call_.responder_.FinishWithError(status, tag());
  }
}

void UnaryCall::FinishOperation::Fire(bool ok) {
  sent_ = ok;
  if (call_.end_.await_ready()) {
    waiting_.resume();
  } else {
    call_.end_.await_suspend(waiting_);
  }
}

void UnaryCall::FinishOperation::await_resume() {
  call_.scope_->End(status_, sent_ && !call_.context_.IsCancelled());
}

}  // namespace trelu::server
