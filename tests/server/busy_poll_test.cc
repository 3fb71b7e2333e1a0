#include "server/busy_poll.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trelu::server {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(BusyPollTest, SleepsAtOnceUntilAWaitWasShort) {
  BusyPoll poll(microseconds(100));
  EXPECT_EQ(poll.patience(), microseconds(0));
  poll.Waited(microseconds(40));
  EXPECT_EQ(poll.patience(), microseconds(100));
}

TEST(BusyPollTest, OneLongWaitEndsIt) {
  BusyPoll poll(microseconds(100));
  poll.Waited(microseconds(100));
  EXPECT_EQ(poll.patience(), microseconds(100));
  poll.Waited(microseconds(100) + nanoseconds(1));
  EXPECT_EQ(poll.patience(), microseconds(0));
}

TEST(BusyPollTest, IsOffWithoutTime) {
  EXPECT_TRUE(BusyPoll(microseconds(0)).off());
  EXPECT_FALSE(BusyPoll(microseconds(1)).off());
}

}  // namespace
}  // namespace trelu::server
