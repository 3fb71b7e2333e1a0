// co_await on work that another thread does.
#ifndef TRELU_SERVER_ON_WORKER_H_
#define TRELU_SERVER_ON_WORKER_H_

#include <grpcpp/alarm.h>

#include <coroutine>
#include <functional>
#include <utility>

#include "core/executor.h"
#include "server/event_queue.h"

namespace trelu::server {

// A way back to a queue's thread, where alone gRPC operations may start.
class Resumption final : public Event {
 public:
  explicit Resumption(EventQueue& queue) : queue_(queue) {}

  // Before the work is handed over, on the queue's thread.
  void Prepare(std::coroutine_handle<> waiting) { waiting_ = waiting; }
  // Resumes the coroutine on its queue's thread. Once, any thread; from then on the object may be
  // gone.
  void Resume() { queue_.Post(alarm_, *this); }

 private:
  void Fire(bool) override { waiting_.resume(); }

  EventQueue& queue_;
  grpc::Alarm alarm_;
  std::coroutine_handle<> waiting_;
};

// `co_await on_worker` runs `work` on a thread of the executor's and continues on the queue's. A
// named local of the handler's, as what `work` refers to.
class OnWorker {
 public:
  OnWorker(Executor& workers, EventQueue& queue, std::function<void()> work)
      : workers_(workers), work_(std::move(work)), resumption_(queue) {}

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    resumption_.Prepare(waiting);
    workers_.Schedule([this] {
      work_();
      resumption_.Resume();
    });
  }
  void await_resume() const {}

 private:
  Executor& workers_;
  std::function<void()> work_;
  Resumption resumption_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_ON_WORKER_H_
