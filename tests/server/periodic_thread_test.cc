#include "server/periodic_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace trelu::server {
namespace {

TEST(PeriodicThreadTest, CallsAgainAndAgain) {
  std::atomic<int> left = 3;
  std::promise<void> third;
  const PeriodicThread thread(std::chrono::milliseconds(1), [&] {
    if (--left == 0) third.set_value();
  });
  third.get_future().wait();
}

TEST(PeriodicThreadTest, EndsWithoutWaitingForTheInterval) {
  const PeriodicThread thread(std::chrono::hours(1), [] { FAIL() << "an hour is over?"; });
}

TEST(PeriodicThreadTest, EndsAfterTheCallThatIsUnderWay) {
  std::latch entered(1);
  std::latch may_go_on(1);
  std::atomic<bool> done = false;
  auto thread = std::make_unique<PeriodicThread>(std::chrono::milliseconds(1), [&] {
    if (done) return;
    entered.count_down();
    may_go_on.wait();
    done = true;
  });
  entered.wait();
  std::thread other([&] { may_go_on.count_down(); });
  thread.reset();
  EXPECT_TRUE(done);
  other.join();
}

}  // namespace
}  // namespace trelu::server
