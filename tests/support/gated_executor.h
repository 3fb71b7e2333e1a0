// Workers that wait until the test lets them go.
#ifndef TRELU_TESTS_SUPPORT_GATED_EXECUTOR_H_
#define TRELU_TESTS_SUPPORT_GATED_EXECUTOR_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/executor.h"
#include "core/worker_pool.h"

namespace trelu::testing {

// Keeps work while the gate is closed, as it is at first. Shared by the test and the executor,
// which the server owns. Any thread.
class Gate {
 public:
  // Lets everything through from now on.
  void Open() {
    std::vector<std::function<void()>> kept;
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      kept = std::exchange(kept_, {});
    }
    for (auto& work : kept) work();
  }

  // Keeps what comes from now on.
  void Close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }

  // Waits until `count` pieces of work are kept.
  void WaitForKept(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return kept_.size() >= count; });
  }

 private:
  friend class GatedExecutor;
  void Pass(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      if (!open_) {
        kept_.push_back(std::move(work));
        came_.notify_all();
        return;
      }
    }
    work();
  }

  std::mutex mutex_;
  std::condition_variable came_;
  bool open_ = false;
  std::vector<std::function<void()>> kept_;
};

// A pool of two threads behind a gate.
class GatedExecutor final : public Executor {
 public:
  explicit GatedExecutor(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}

  void Schedule(std::function<void()> work) override {
    gate_->Pass([this, work = std::move(work)] { pool_.Schedule(work); });
  }
  int width() const override { return pool_.width(); }

 private:
  std::shared_ptr<Gate> gate_;
  WorkerPool pool_{2};
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_GATED_EXECUTOR_H_
