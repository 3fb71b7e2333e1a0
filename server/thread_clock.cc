#include "server/thread_clock.h"

#include <pthread.h>

#include <ctime>

namespace trelu::server {
namespace {

double Read(clockid_t clock) {
  constexpr double kSecondsPerNanosecond = 1e-9;
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * kSecondsPerNanosecond;
}

}  // namespace

ThreadClock::Scope::Scope(ThreadClock& clock) : clock_(clock) {
  // It fails only where the system has no such clocks; then the time stays zero.
  clockid_t id{};
  if (pthread_getcpuclockid(pthread_self(), &id) != 0) return;
  const std::lock_guard lock(clock_.mutex_);
  clock_.running_ = id;
}

ThreadClock::Scope::~Scope() {
  const std::lock_guard lock(clock_.mutex_);
  if (!clock_.running_) return;
  clock_.ended_at_ = Read(*clock_.running_);
  clock_.running_.reset();
}

double ThreadClock::Seconds() const {
  const std::lock_guard lock(mutex_);
  return running_ ? Read(*running_) : ended_at_;
}

}  // namespace trelu::server
