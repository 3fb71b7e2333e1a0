// Where work runs: on other threads, or here and now.
#ifndef TRELU_CORE_EXECUTOR_H_
#define TRELU_CORE_EXECUTOR_H_

#include <functional>

namespace trelu {

// Whoever needs worker threads takes one of these. Schedule may be called from any thread.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `work` once, some time, on a thread of the executor's choice. `work` must not throw.
  virtual void Schedule(std::function<void()> work) = 0;

  // How many pieces of work can run at the same time; at least 1.
  virtual int width() const = 0;
};

// Runs the work before Schedule returns.
class InlineExecutor final : public Executor {
 public:
  void Schedule(std::function<void()> work) override { work(); }
  int width() const override { return 1; }
};

}  // namespace trelu

#endif  // TRELU_CORE_EXECUTOR_H_
