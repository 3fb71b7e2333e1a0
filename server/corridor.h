// What every call walks through, whatever the service: the server's rooms, and the steps between
// the wire and the kernel.
#ifndef TRELU_SERVER_CORRIDOR_H_
#define TRELU_SERVER_CORRIDOR_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>

#include "core/admission.h"
#include "core/computation.h"
#include "core/executor.h"
#include "core/worker_pool.h"
#include "server/event_queue.h"
#include "server/live_count.h"
#include "server/metrics.h"
#include "server/on_worker.h"
#include "server/operation.h"
#include "server/options.h"

namespace trelu::server {

// One server's, made at start and alive until the last handler's frame is gone. Handlers hold
// references.
struct Corridor {
  Corridor(const Options& options_in, Executor& workers_in, Metrics& metrics_in)
      : options(options_in),
        workers(workers_in),
        metrics(metrics_in),
        admission(options_in.max_inflight_bytes) {}

  const Options options;  // with the automatic values filled in
  Executor& workers;
  WorkerPool chores{1};
  Metrics& metrics;
  Admission admission;
  // Set while new calls are refused.
  std::atomic<bool> draining{false};
  // Set when the time of calls in flight is over.
  std::atomic<bool> time_is_up{false};
  // Sent after each of the two.
  Broadcast drain_news;
  // Calls in flight, which a drain waits for; and handlers' frames, those that wait for a call
  // included.
  LiveCount calls;
  LiveCount frames;

  // The first step: UNAVAILABLE while draining.
  absl::Status Open() const;
  // The second: RESOURCE_EXHAUSTED for a message over the limit.
  absl::Status CheckSize(std::uint64_t message_bytes) const;
  // The third: a share of the budget, or UNAVAILABLE.
  absl::StatusOr<Admission::Ticket> Admit(std::uint64_t bytes);
};

// The fourth step: `co_await compute` gives OK, or CallerGone's status when the call ended or
// `deadline` passed before the last block was computed. Up to options.inline_bytes the work is done
// there and then; above, on the workers, and the coroutine continues on its queue's thread. A named
// local of the handler's, as what the work refers to, which stays untouched meanwhile.
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
  bool CallIsOver() const;
  void Measure(Clock::duration kernel_time);

  Corridor& corridor_;
  EventQueue& queue_;
  const CallEnd& end_;
  const std::chrono::system_clock::time_point deadline_;
  Work work_;
  bool completed_ = false;
  Clock::duration queue_time_{};
  Clock::duration kernel_time_{};

  // Only when the workers do it.
  std::optional<Computation> computation_;
  Clock::time_point scheduled_;
  std::atomic<Clock::rep> begun_{0};
  std::optional<Resumption> resumption_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_CORRIDOR_H_
