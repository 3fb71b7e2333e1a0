// A thread that does the same thing again and again.
#ifndef TRELU_SERVER_PERIODIC_THREAD_H_
#define TRELU_SERVER_PERIODIC_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace trelu::server {

// As long as it lives. What `work` uses must outlive it: a last member.
class PeriodicThread {
 public:
  // Calls `work` on its own thread, `interval` after the start and after each call's end.
  PeriodicThread(std::chrono::milliseconds interval, std::function<void()> work);
  // Waits for a call that is under way, not for the interval.
  ~PeriodicThread();
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable stop_wanted_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_PERIODIC_THREAD_H_
