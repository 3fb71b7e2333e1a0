#include "server/idle_timer.h"

namespace trelu::server {

IdleTimer::IdleTimer(std::chrono::milliseconds timeout, EventQueue& queue, AnyOperation& any)
    : timeout_(timeout), queue_(queue), expiry_(any) {
  if (timeout_.count() > 0) Arm(timeout_);
}

bool IdleTimer::Expired() {
  if (!expiry_.TakeCompletion() || !expiry_.ok()) return false;
  const auto left = timeout_ - (Clock::now() - last_move_);
  if (left <= Clock::duration::zero()) return true;
  Arm(left);
  return false;
}

void IdleTimer::Stop() {
  if (expiry_.pending()) alarm_.Cancel();
}

void IdleTimer::Arm(Clock::duration wait) {
  using SystemClock = std::chrono::system_clock;
  alarm_.Set(queue_.get(),
             SystemClock::now() + std::chrono::duration_cast<SystemClock::duration>(wait),
             expiry_.Start());
}

}  // namespace trelu::server
