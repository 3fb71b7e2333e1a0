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

Compute::Compute(Corridor& corridor, EventQueue& queue, const grpc::ServerContext& context,
                 const CallEnd& end, const ThresholdedRelu& op, Payload& payload)
    : corridor_(corridor),
      queue_(queue),
      end_(end),
      deadline_(context.deadline()),
      op_(op),
      payload_(payload) {}

bool Compute::CallIsOver() const {
  return end_.came() || corridor_.time_is_up.load(std::memory_order_relaxed) ||
         deadline_ <= std::chrono::system_clock::now();
}

bool Compute::await_ready() {
  if (CallIsOver()) return true;
  if (payload_.bytes() > corridor_.options.inline_bytes) return false;
  const auto begun = Clock::now();
  payload_.MutableSegments().ApplyInPlace(op_, 0, payload_.bytes());
  corridor_.metrics.Kernel(Clock::now() - begun);
  completed_ = true;
  return true;
}

void Compute::await_suspend(std::coroutine_handle<> waiting) {
  resumption_.waiting = waiting;
  scheduled_ = Clock::now();
  // The first look at the stop condition is when a worker takes the work up.
  computation_.emplace(op_, payload_.MutableSegments(), [this] {
    Clock::rep never = 0;
    begun_.compare_exchange_strong(never, Clock::now().time_since_epoch().count(),
                                   std::memory_order_relaxed);
    return CallIsOver();
  });
  alarm_.emplace();
  computation_->RunOn(corridor_.workers, [this](bool completed) {
    completed_ = completed;
    const auto now = Clock::now();
    const Clock::time_point begun{Clock::duration(begun_.load(std::memory_order_relaxed))};
    corridor_.metrics.Queue(begun - scheduled_);
    if (completed) corridor_.metrics.Kernel(now - begun);
    // Back to the queue's thread, where alone gRPC operations may start.
    queue_.Post(*alarm_, resumption_);
  });
}

absl::Status Compute::await_resume() {
  if (completed_) return absl::OkStatus();
  return corridor_.time_is_up.load(std::memory_order_relaxed) ? Draining() : CallerGone(deadline_);
}

}  // namespace trelu::server
