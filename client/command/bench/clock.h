// Time as an input, so that the scheduling of a load can be tested without waiting.
#ifndef TRELU_CLIENT_COMMAND_BENCH_CLOCK_H_
#define TRELU_CLIENT_COMMAND_BENCH_CLOCK_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace trelu::command {

using TimePoint = std::chrono::steady_clock::time_point;

// Implemented by SteadyClock and, in tests, by a simulation.
class Clock {
 public:
  virtual ~Clock() = default;

  // Any thread.
  virtual TimePoint Now() const = 0;

  // Returns, with `lock` held, after `wake` was notified or at `deadline`, or earlier without a
  // reason: what std::condition_variable::wait_until promises.
  virtual void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& wake,
                         TimePoint deadline) = 0;
};

// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  // Asks the kernel to wake the calling thread as exactly as it can; by default Linux adds up to 50
  // us, which would show in every latency of an open loop.
  SteadyClock();

  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& wake,
                 TimePoint deadline) override {
    wake.wait_until(lock, deadline);
  }
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_CLOCK_H_
