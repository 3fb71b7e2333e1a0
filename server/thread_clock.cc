#include "server/thread_clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace trelu::server {
namespace {

constexpr double kSecondsPerNanosecond = 1e-9;

}  // namespace

ThreadTime ThreadClock::Running::Read() const {
  ThreadTime result;
  timespec ran{};
  if (clock_gettime(clock, &ran) == 0) {
    result.ran =
        static_cast<double>(ran.tv_sec) + static_cast<double>(ran.tv_nsec) * kSecondsPerNanosecond;
  }
  // Linux, Documentation/scheduler/sched-stats: nanoseconds run, nanoseconds waited, slices.
  std::array<char, 64> text{};
  std::uint64_t waited = 0;
  if (schedstat >= 0 && pread(schedstat, text.data(), text.size() - 1, 0) > 0 &&
      std::sscanf(text.data(), "%*u %lu", &waited) == 1) {
    result.waited = static_cast<double>(waited) * kSecondsPerNanosecond;
  }
  return result;
}

ThreadClock::Scope::Scope(ThreadClock& clock) : clock_(clock) {
  // It fails only where the system has no such clocks; then the time stays zero.
  clockid_t id{};
  if (pthread_getcpuclockid(pthread_self(), &id) != 0) return;
  const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  const std::lock_guard lock(clock_.mutex_);
  clock_.running_ = {id, schedstat};
}

ThreadClock::Scope::~Scope() {
  const std::lock_guard lock(clock_.mutex_);
  if (!clock_.running_) return;
  clock_.ended_at_ = clock_.running_->Read();
  if (clock_.running_->schedstat >= 0) close(clock_.running_->schedstat);
  clock_.running_.reset();
}

ThreadTime ThreadClock::Read() const {
  const std::lock_guard lock(mutex_);
  return running_ ? running_->Read() : ended_at_;
}

}  // namespace trelu::server
