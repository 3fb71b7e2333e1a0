#include "server/compute.h"

#include <algorithm>
#include <utility>

#include "server/refusal.h"

namespace trelu::server {

Compute::Compute(Corridor& corridor, EventQueue& queue, const CallEnd& end,
                 std::chrono::system_clock::time_point deadline, Work work)
    : corridor_(corridor), queue_(queue), end_(end), deadline_(deadline), work_(std::move(work)) {}

bool Compute::CallIsOver() const {
  return end_.came() || corridor_.time_is_up.load(std::memory_order_relaxed) ||
         deadline_ <= std::chrono::system_clock::now();
}

bool Compute::ForQueueThread() const {
  const std::uint64_t bytes = work_.x.bytes();
  return bytes <= corridor_.options.inline_bytes && (work_.in_cache || bytes < kBlockBytes);
}

bool Compute::await_ready() {
  if (CallIsOver()) return true;
  if (!ForQueueThread() || work_.x.bytes() > kBlockBytes) return false;
  const auto begun = Clock::now();
  completed_ = Computation(std::move(work_), nullptr).Run();
  kernel_time_ = Clock::now() - begun;
  return true;
}

void Compute::await_suspend(std::coroutine_handle<> waiting) {
  if (!ForQueueThread()) {
    RunOnWorkers(waiting);
    return;
  }
  waiting_ = waiting;
  computation_.emplace(std::move(work_), [this] { return CallIsOver(); });
  queue_.WhenIdle(turn_);
}

void Compute::TakeTurn() {
  const auto begun = Clock::now();
  const bool more = computation_->RunBlock();
  kernel_time_ += Clock::now() - begun;
  if (more) {
    queue_.WhenIdle(turn_);
    return;
  }
  completed_ = computation_->completed();
  waiting_.resume();
}

void Compute::RunOnWorkers(std::coroutine_handle<> waiting) {
  resumption_.emplace(queue_).Prepare(waiting);
  scheduled_ = Clock::now();
  // The first look at the stop condition is when a worker takes the work up.
  computation_.emplace(std::move(work_), [this] {
    Clock::rep never = 0;
    begun_.compare_exchange_strong(never, Clock::now().time_since_epoch().count(),
                                   std::memory_order_relaxed);
    return CallIsOver();
  });
  computation_->RunOn(corridor_.workers, [this](bool completed) {
    completed_ = completed;
    const auto now = Clock::now();
    const Clock::time_point begun{Clock::duration(begun_.load(std::memory_order_relaxed))};
    queue_time_ = begun - scheduled_;
    corridor_.metrics.Queue(queue_time_);
    kernel_time_ = now - begun;
    resumption_->Resume();
  });
}

absl::Status Compute::await_resume() {
  if (completed_) {
    corridor_.metrics.Kernel(kernel_time_);
    return absl::OkStatus();
  }
  return corridor_.time_is_up.load(std::memory_order_relaxed) ? Draining() : CallerGone(deadline_);
}

}  // namespace trelu::server
