// The step of the corridor at which a request waits for its result.
#ifndef TRELU_SERVER_COMPUTE_H_
#define TRELU_SERVER_COMPUTE_H_

#include <absl/status/status.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <optional>

#include "core/computation.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/on_worker.h"
#include "server/operation.h"

namespace trelu::server {

// The fourth step: `co_await compute` gives OK, or CallerGone's status when the call ended or
// `deadline` passed before the last block was computed. Up to options.inline_bytes the queue's own
// thread does the work: one block there and then, more of them in turns with other events. Above,
// and from a block on when the thread's caches do not hold the elements, the workers do it. The
// coroutine continues on its queue's thread. A named local of the handler's, as what the work
// refers to, which stays untouched meanwhile.
class Compute {
 public:
  using Clock = std::chrono::steady_clock;

  // `deadline` is the call's, or an earlier one that the caller named for this piece of work.
  Compute(Corridor& corridor, EventQueue& queue, const CallEnd& end,
          std::chrono::system_clock::time_point deadline, Work work);

  bool await_ready();
  void await_suspend(std::coroutine_handle<> waiting);
  absl::Status await_resume();

  // Afterwards: how long the work waited for a worker, and how long it took.
  Clock::duration queue_time() const { return queue_time_; }
  Clock::duration kernel_time() const { return kernel_time_; }

 private:
  // The queue's thread comes to the next block.
  class Turn final : public Event {
   public:
    explicit Turn(Compute& compute) : compute_(compute) {}

   private:
    void Fire(bool) override { compute_.TakeTurn(); }
    Compute& compute_;
  };

  bool CallIsOver() const;
  bool ForQueueThread() const;
  void TakeTurn();
  void RunOnWorkers(std::coroutine_handle<> waiting);

  Corridor& corridor_;
  EventQueue& queue_;
  const CallEnd& end_;
  const std::chrono::system_clock::time_point deadline_;
  Work work_;
  std::optional<Computation> computation_;
  bool completed_ = false;
  Clock::duration queue_time_{};
  Clock::duration kernel_time_{};

  // Only in turns.
  Turn turn_{*this};
  std::coroutine_handle<> waiting_;
  // Only when the workers do it.
  Clock::time_point scheduled_;
  std::atomic<Clock::rep> begun_{0};
  std::optional<Resumption> resumption_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_COMPUTE_H_
