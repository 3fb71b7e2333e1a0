// How many of something are alive, and a wait for none.
#ifndef TRELU_SERVER_LIVE_COUNT_H_
#define TRELU_SERVER_LIVE_COUNT_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace trelu::server {

// Any thread. Outlives its guards.
class LiveCount {
 public:
  class Guard {
   public:
    explicit Guard(LiveCount& count) : count_(count) { count_.Add(); }
    ~Guard() { count_.Remove(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    LiveCount& count_;
  };

  int value() const { return value_.load(); }
  // How many there have ever been.
  std::uint64_t total() const { return total_.load(std::memory_order_relaxed); }

  void WaitForNone() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return value() == 0; });
  }
  // Returns whether none was left in time.
  bool WaitForNone(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    return none_.wait_for(lock, at_most, [this] { return value() == 0; });
  }

 private:
  void Add() {
    // Sequentially consistent, like `draining` of the corridor: a call counts itself and then looks
    // whether it is refused, a drain says so and then looks at the count; one of the two must see
    // the other.
    value_.fetch_add(1);
    total_.fetch_add(1, std::memory_order_relaxed);
  }
  void Remove() {
    // The last one goes under the lock, so that a waiter that sees none may destroy the count.
    int seen = value_.load(std::memory_order_relaxed);
    while (seen > 1) {
      if (value_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel)) return;
    }
    const std::lock_guard lock(mutex_);
    if (value_.fetch_sub(1, std::memory_order_acq_rel) == 1) none_.notify_all();
  }

  std::atomic<int> value_{0};
  std::atomic<std::uint64_t> total_{0};
  std::mutex mutex_;
  std::condition_variable none_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_LIVE_COUNT_H_
