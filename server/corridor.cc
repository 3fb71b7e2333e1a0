#include "server/corridor.h"

#include <utility>

#include "server/refusal.h"

namespace trelu::server {

absl::Status Corridor::Open() const { return draining.load() ? Draining() : absl::OkStatus(); }

absl::Status Corridor::CheckSize(std::uint64_t message_bytes) const {
  return message_bytes > options.max_message_bytes
             ? TooLarge(message_bytes, options.max_message_bytes)
             : absl::OkStatus();
}

absl::StatusOr<Admission::Ticket> Corridor::Admit(std::uint64_t bytes) {
  auto ticket = admission.TryAdmit(bytes);
  if (!ticket) return OverBudget(bytes, admission.max_bytes());
  return *std::move(ticket);
}

Compute::Compute(Corridor& corridor, EventQueue& queue, const CallEnd& end,
                 std::chrono::system_clock::time_point deadline, Work work)
    : corridor_(corridor), queue_(queue), end_(end), deadline_(deadline), work_(std::move(work)) {}

bool Compute::CallIsOver() const {
  return end_.came() || corridor_.time_is_up.load(std::memory_order_relaxed) ||
         deadline_ <= std::chrono::system_clock::now();
}

void Compute::Measure(Clock::duration kernel_time) {
  kernel_time_ = kernel_time;
  corridor_.metrics.Kernel(kernel_time);
}

bool Compute::await_ready() {
  if (CallIsOver()) return true;
  if (work_.x.bytes() > corridor_.options.inline_bytes) return false;
  const auto begun = Clock::now();
  completed_ = Computation(std::move(work_), nullptr).Run();
  Measure(Clock::now() - begun);
  return true;
}

void Compute::await_suspend(std::coroutine_handle<> waiting) {
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
    if (completed) Measure(now - begun);
    resumption_->Resume();
  });
}

absl::Status Compute::await_resume() {
  if (completed_) return absl::OkStatus();
  return corridor_.time_is_up.load(std::memory_order_relaxed) ? Draining() : CallerGone(deadline_);
}

}  // namespace trelu::server
