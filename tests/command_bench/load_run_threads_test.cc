// The load loops with answers that come on other threads.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "client/command/bench/load_run.h"

namespace trelu::command {
namespace {

using std::chrono::seconds;

// Answers on threads of its own, as fast as it can: for the thread sanitizer, and against lost
// wake-ups.
class ThreadedTarget final : public LoadTarget {
 public:
  explicit ThreadedTarget(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
  }
  ~ThreadedTarget() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void Send(std::size_t, Done done) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(done));
    }
    wake_.notify_one();
  }
  void Abandon() override {}

 private:
  void Serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const Done done = std::move(queue_.back());
      queue_.pop_back();
      lock.unlock();
      done(absl::OkStatus());
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Done> queue_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

TEST(LoadRunThreadsTest, ClosedLoopLosesNoAnswer) {
  SteadyClock clock;
  for (int round = 0; round < 20; ++round) {
    ThreadedTarget target(3);
    const LoadResult result =
        RunLoad({.in_flight = 8, .duration = seconds(3600), .max_requests = 1000}, target, clock);
    EXPECT_EQ(result.tally.latency.count(), 1000U);
  }
}

TEST(LoadRunThreadsTest, OpenLoopLosesNoAnswer) {
  SteadyClock clock;
  ThreadedTarget target(3);
  const LoadPlan plan = {.in_flight = 2,
                         .rate = 1e6,
                         .arrivals = Arrivals::kUniform,
                         .warmup = seconds(0),
                         .duration = seconds(3600),
                         .max_requests = 5000};
  EXPECT_EQ(RunLoad(plan, target, clock).tally.latency.count(), 5000U);
}

TEST(LoadRunThreadsTest, AnInterruptionEndsThousandsOfSends) {
  SteadyClock clock;
  ThreadedTarget target(3);
  const LoadResult result = RunLoad({.in_flight = 8, .duration = seconds(3600)}, target, clock,
                                    [](const LoadProgress&) { return false; });
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.tally.latency.count(), 0U);
}

}  // namespace
}  // namespace trelu::command
