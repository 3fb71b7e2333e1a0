// One operator over one run of bytes, in blocks, by one thread or several, until done or told to
// stop.
#ifndef TRELU_CORE_COMPUTATION_H_
#define TRELU_CORE_COMPUTATION_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "core/executor.h"
#include "core/segments.h"
#include "core/thresholded_relu.h"

namespace trelu {

// Bytes between two looks at the stop condition; small enough that a cancelled call frees its
// worker within a millisecond, a multiple of every element size.
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// Below this many bytes a second worker costs more than it saves.
inline constexpr std::size_t kSplitBytes = std::size_t{4} << 20;

// What is to be computed. The memory belongs to others.
struct Work {
  ThresholdedRelu op;
  Segments x;              // a multiple of the element's size
  std::byte* y = nullptr;  // x.bytes() bytes that do not overlap x, or are its one range; null: in
                           // place
  // Whether the result is of no use any more; looked at before each block, by several threads at
  // the same time. May be empty.
  std::function<bool()> is_void = nullptr;
  // Whether the caches of the thread that brings the work hold x: then that thread is the one to
  // compute, since others would first have to fetch every line from it.
  bool in_cache = true;
};

// The object, the memory and whatever `should_stop` refers to must outlive the run.
class Computation {
 public:
  // `should_stop` is called before each block, by several threads at the same time, until it says
  // true; it may be empty.
  Computation(Work work, std::function<bool()> should_stop);

  // Computes on the calling thread. Returns whether every block was computed.
  bool Run();

  // The same by steps: computes the next block and returns whether there are more; then completed()
  // says what Run would.
  bool RunBlock();
  bool completed() const { return !stopped_.load(std::memory_order_relaxed); }

  // Computes on `executor`, on several of its threads when the run is large. `done` is called once,
  // on the thread that finishes the last block, with whether every block was computed; nothing of
  // the object is touched after that call begins. It never waits for pieces that still stand in the
  // executor's queue: what others left them is computed by those that run.
  void RunOn(Executor& executor, std::function<void(bool)> done);

 private:
  // Which blocks are taken and which are finished. Pieces share it, so that one that an executor
  // begins late, after done, has something to look at.
  struct Claims {
    explicit Claims(std::size_t count) : blocks(count), unfinished(count) {}
    const std::size_t blocks;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> unfinished;
  };

  void ComputeClaimed(Claims& claims);
  void ComputeUnlessStopped(std::size_t block);

  Work work_;
  std::function<bool()> should_stop_;
  std::function<void(bool)> done_;
  std::size_t blocks_;
  std::size_t next_block_ = 0;  // of RunBlock
  std::atomic<bool> stopped_{false};
};

}  // namespace trelu

#endif  // TRELU_CORE_COMPUTATION_H_
