#include "core/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace trelu {
namespace {

class WorkerPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(WorkerPoolTest, IsAsWideAsItsThreads) {
  EXPECT_EQ(WorkerPool(GetParam()).width(), GetParam());
}

TEST_P(WorkerPoolTest, FinishesScheduledWorkBeforeItGoes) {
  constexpr int kWorks = 1000;
  std::atomic<int> finished = 0;
  std::latch gate(1);
  {
    WorkerPool pool(GetParam());
    // All threads stand at the gate, so that the rest is certainly still queued.
    for (int i = 0; i < GetParam(); ++i) pool.Schedule([&gate] { gate.wait(); });
    for (int i = 0; i < kWorks; ++i) pool.Schedule([&finished] { ++finished; });
    EXPECT_EQ(finished, 0);
    gate.count_down();
  }
  EXPECT_EQ(finished, kWorks);
}

TEST_P(WorkerPoolTest, FinishesWorkThatItsWorkSchedules) {
  std::atomic<int> finished = 0;
  {
    WorkerPool pool(GetParam());
    pool.Schedule([&] {
      pool.Schedule([&] {
        pool.Schedule([&] { ++finished; });
        ++finished;
      });
      ++finished;
    });
  }
  EXPECT_EQ(finished, 3);
}

TEST_P(WorkerPoolTest, RunsAsManyAtATimeAsItIsWide) {
  // Each waits for all the others: fewer threads would never finish.
  std::latch all_running(GetParam());
  WorkerPool pool(GetParam());
  for (int i = 0; i < GetParam(); ++i) pool.Schedule([&] { all_running.arrive_and_wait(); });
}

TEST_P(WorkerPoolTest, TakesWorkFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kWorks = 500;
  std::atomic<int> finished = 0;
  {
    WorkerPool pool(GetParam());
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < kWorks; ++k) pool.Schedule([&finished] { ++finished; });
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(finished, kThreads * kWorks);
}

TEST_P(WorkerPoolTest, LetsGoOfWorkBeforeTheNext) {
  auto held = std::make_shared<int>(0);
  std::weak_ptr<int> watched = held;
  std::atomic<bool> gone = false;
  {
    WorkerPool pool(1);
    pool.Schedule([held] {});
    held.reset();
    pool.Schedule([&] { gone = watched.expired(); });
  }
  EXPECT_TRUE(gone);
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkerPoolTest, ::testing::Values(1, 2, 16),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(WorkerPoolOrderTest, IsFirstInFirstOut) {
  std::vector<int> order;
  std::vector<int> expected;
  {
    WorkerPool pool(1);
    for (int i = 0; i < 100; ++i) {
      expected.push_back(i);
      pool.Schedule([&order, i] { order.push_back(i); });
    }
  }
  EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace trelu
