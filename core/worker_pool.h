// A fixed set of threads that run scheduled work in order.
#ifndef TRELU_CORE_WORKER_POOL_H_
#define TRELU_CORE_WORKER_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/executor.h"

namespace trelu {

// First in, first out. Work scheduled before the destructor begins is finished before it returns.
class WorkerPool final : public Executor {
 public:
  // `threads` is at least 1. Throws std::system_error when the system gives no more threads.
  explicit WorkerPool(int threads);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Schedule(std::function<void()> work) override;
  int width() const override { return static_cast<int>(threads_.size()); }

 private:
  void Stop();
  void RunUntilStopped();

  std::mutex mutex_;
  std::condition_variable work_added_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trelu

#endif  // TRELU_CORE_WORKER_POOL_H_
