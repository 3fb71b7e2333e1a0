#include "server/log_limiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace trelu::server {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

TEST(LogLimiterTest, LetsOneASecondThroughAndCountsTheRest) {
  LogLimiter limiter;
  const Time start{};
  EXPECT_EQ(limiter.Admit("full", start), 0U);
  EXPECT_EQ(limiter.Admit("full", start), std::nullopt);
  EXPECT_EQ(limiter.Admit("full", start + milliseconds(999)), std::nullopt);
  EXPECT_EQ(limiter.Admit("full", start + milliseconds(1000)), 2U);
  EXPECT_EQ(limiter.Admit("full", start + milliseconds(1001)), std::nullopt);
  EXPECT_EQ(limiter.Admit("full", start + milliseconds(5000)), 1U);
  EXPECT_EQ(limiter.Admit("full", start + milliseconds(9000)), 0U);
}

TEST(LogLimiterTest, KeepsReasonsApart) {
  LogLimiter limiter;
  const Time start{};
  EXPECT_EQ(limiter.Admit("full", start), 0U);
  EXPECT_EQ(limiter.Admit("bad", start), 0U);
  EXPECT_EQ(limiter.Admit("bad", start), std::nullopt);
  EXPECT_EQ(limiter.Admit("full", start + LogLimiter::kInterval), 0U);
  EXPECT_EQ(limiter.Admit("bad", start + LogLimiter::kInterval), 1U);
}

TEST(LogLimiterTest, LosesNoCountBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 1000;
  LogLimiter limiter;
  const Time start{};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) limiter.Admit("full", start);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(limiter.Admit("full", start + LogLimiter::kInterval), kThreads * kCalls - 1);
}

}  // namespace
}  // namespace trelu::server
