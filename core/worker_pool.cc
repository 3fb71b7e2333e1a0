#include "core/worker_pool.h"

#include <cassert>
#include <utility>

namespace trelu {

WorkerPool::WorkerPool(int threads) {
  assert(threads >= 1);
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { RunUntilStopped(); });
    }
  } catch (...) {
    // The system gives no more threads: those that run must end before the exception goes on.
    Stop();
    throw;
  }
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Schedule(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  work_added_.notify_one();
}

void WorkerPool::RunUntilStopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_added_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    // Gone before the lock is taken again: what the work holds may take locks of its own to go.
    {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
    }
    lock.lock();
  }
}

}  // namespace trelu
