// co_await on gRPC operations: one, the end of a call, or whichever of several comes first.
#ifndef TRELU_SERVER_OPERATION_H_
#define TRELU_SERVER_OPERATION_H_

#include <atomic>
#include <coroutine>
#include <type_traits>
#include <utility>

#include "server/event.h"

namespace trelu::server {

// One gRPC operation: `co_await Operation([&](void* tag) { ...start it with tag... })` gives the
// operation's `ok`. What the operation uses must stay until then. The coroutine must be on its
// queue's thread and continues there.
template <class Start>
class Operation final : public Event {
  static_assert(
      std::is_trivially_destructible_v<Start>,
      "capture by reference only: g++ 12.2 destroys a co_await temporary's members twice");

 public:
  explicit Operation(Start start) : start_(std::move(start)) {}

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    start_(tag());
  }
  bool await_resume() const { return ok_; }

 private:
  void Fire(bool ok) override {
    ok_ = ok;
    waiting_.resume();
  }

  Start start_;
  std::coroutine_handle<> waiting_;
  bool ok_ = false;
};

// The end of a call, however it comes: give tag() to ServerContext::AsyncNotifyWhenDone before the
// call is requested. Without that tag ServerContext::IsCancelled crashes. Never fires for a call
// that did not arrive.
class CallEnd final : public Event {
 public:
  // Whether the call is over (finished, or cancelled by the caller or by its deadline). Any thread.
  bool came() const { return came_.load(std::memory_order_acquire); }

  bool await_ready() const { return came(); }
  void await_suspend(std::coroutine_handle<> waiting) { waiting_ = waiting; }
  void await_resume() const {}

 private:
  void Fire(bool) override {
    came_.store(true, std::memory_order_release);
    if (waiting_) waiting_.resume();
  }

  std::atomic<bool> came_{false};
  std::coroutine_handle<> waiting_;
};

// `co_await any` continues when one of the operations that were made with it has completed since
// the last time.
class AnyOperation {
 public:
  bool await_ready() { return std::exchange(woken_, false); }
  void await_suspend(std::coroutine_handle<> waiting) { waiting_ = waiting; }
  void await_resume() const {}

  void Wake() {
    if (waiting_) {
      std::exchange(waiting_, nullptr).resume();
    } else {
      woken_ = true;
    }
  }

 private:
  std::coroutine_handle<> waiting_;
  bool woken_ = false;
};

// An operation that runs while its coroutine does other things. All on the queue's one thread,
// therefore without locks.
class PendingOperation final : public Event {
 public:
  explicit PendingOperation(AnyOperation& any) : any_(any) {}

  // The tag to start the operation with.
  void* Start() {
    pending_ = true;
    return tag();
  }
  bool pending() const { return pending_; }
  // Whether it completed since the last look.
  bool TakeCompletion() { return std::exchange(completed_, false); }
  // Of the last completion.
  bool ok() const { return ok_; }

 private:
  void Fire(bool ok) override {
    pending_ = false;
    completed_ = true;
    ok_ = ok;
    any_.Wake();
  }

  AnyOperation& any_;
  bool pending_ = false;
  bool completed_ = false;
  bool ok_ = false;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_OPERATION_H_
