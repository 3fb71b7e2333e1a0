#include "server/thread_clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace trelu::server {
namespace {

// The calling thread, on the first processor that it may run on.
void UseOneProcessor() {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  int first = 0;
  while (CPU_ISSET(first, &all) == 0) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof(one), &one), 0);
}

TEST(ThreadClockTest, TellsHowLongItsThreadHadNoProcessor) {
  if (access("/proc/thread-self/schedstat", R_OK) != 0) GTEST_SKIP() << "no such account here";
  constexpr double kEnough = 0.05;
  ThreadClock clock;
  std::barrier all_there(5);
  std::atomic<bool> stop = false;
  // Four that want the one processor all the time: each waits three times as long as it runs.
  std::thread measured([&] {
    UseOneProcessor();
    const ThreadClock::Scope scope(clock);
    all_there.arrive_and_wait();
    while (!stop) {
    }
  });
  std::vector<std::thread> rivals;
  for (int i = 0; i < 3; ++i) {
    rivals.emplace_back([&] {
      UseOneProcessor();
      all_there.arrive_and_wait();
      while (!stop) {
      }
    });
  }
  all_there.arrive_and_wait();
  const ThreadTime begun = clock.Read();
  ThreadTime time;
  while (time.waited < kEnough && time.ran < 100 * kEnough) {
    std::this_thread::yield();
    const ThreadTime now = clock.Read();
    time = {now.ran - begun.ran, now.waited - begun.waited};
  }
  stop = true;
  measured.join();
  for (std::thread& rival : rivals) rival.join();
  EXPECT_GE(time.waited, kEnough);
  EXPECT_GT(time.waited, time.ran);
  EXPECT_GE(clock.Read().waited, begun.waited + time.waited);
}

TEST(ThreadClockTest, KeepsNoFileOpenAfterItsThread) {
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  ThreadClock clock;
  for (int i = 0; i < 100; ++i) {
    std::thread([&] { const ThreadClock::Scope scope(clock); }).join();
  }
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace trelu::server
