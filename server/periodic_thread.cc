#include "server/periodic_thread.h"

#include <utility>

namespace trelu::server {

PeriodicThread::PeriodicThread(std::chrono::milliseconds interval, std::function<void()> work) {
  thread_ = std::thread([this, interval, work = std::move(work)] {
    std::unique_lock lock(mutex_);
    while (!stop_wanted_.wait_for(lock, interval, [this] { return stopping_; })) {
      lock.unlock();
      work();
      lock.lock();
    }
  });
}

PeriodicThread::~PeriodicThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_wanted_.notify_one();
  thread_.join();
}

}  // namespace trelu::server
