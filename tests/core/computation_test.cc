#include "core/computation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/worker_pool.h"
#include "tests/core/scalar_oracle.h"

namespace trelu {
namespace {

// Keeps the work until the test runs it, one piece at a time.
class QueueExecutor final : public Executor {
 public:
  explicit QueueExecutor(int width) : width_(width) {}
  void Schedule(std::function<void()> work) override { queue_.push_back(std::move(work)); }
  int width() const override { return width_; }

  std::size_t queued() const { return queue_.size(); }
  void RunNext() {
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    work();
  }

 private:
  int width_;
  std::deque<std::function<void()>> queue_;
};

// A tensor of float32 in two ranges that are cut inside an element.
class Tensor {
 public:
  explicit Tensor(std::size_t bytes)
      : bytes_(testing::InterestingInput(DType::kFloat32, 1.0F, bytes, 1)),
        expected_(testing::Expected(DType::kFloat32, 1.0F, bytes_)) {}

  Segments segments() {
    const std::size_t cut = bytes_.size() / 3 | 1;
    Segments segments;
    if (cut < bytes_.size()) {
      segments.Append(std::span(bytes_).first(cut));
      segments.Append(std::span(bytes_).subspan(cut));
    }
    return segments;
  }
  bool IsComputed() const { return bytes_ == expected_; }
  // How many bytes from the beginning are right.
  std::size_t ComputedBytes() const {
    return static_cast<std::size_t>(
        std::mismatch(bytes_.begin(), bytes_.end(), expected_.begin()).first - bytes_.begin());
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::byte> expected_;
};

const ThresholdedRelu kOp(DType::kFloat32, 1.0F);

std::vector<std::size_t> Sizes() {
  return {0,
          4096,
          kBlockBytes - 4,
          kBlockBytes,
          kBlockBytes + 4,
          kSplitBytes - 4,
          kSplitBytes,
          kSplitBytes + kBlockBytes / 2};
}

TEST(ComputationTest, RunComputesEveryBlock) {
  for (const std::size_t bytes : Sizes()) {
    Tensor tensor(bytes);
    Computation computation({kOp, tensor.segments()}, nullptr);
    EXPECT_TRUE(computation.Run());
    EXPECT_TRUE(tensor.IsComputed()) << bytes;
  }
}

TEST(ComputationTest, RunBlockComputesOneAndTellsOfMore) {
  Tensor tensor(2 * kBlockBytes + 8);
  Computation computation(Work{kOp, tensor.segments()}, nullptr);
  EXPECT_TRUE(computation.RunBlock());
  EXPECT_FALSE(tensor.IsComputed());
  EXPECT_TRUE(computation.RunBlock());
  EXPECT_FALSE(tensor.IsComputed());
  EXPECT_FALSE(computation.RunBlock());
  EXPECT_TRUE(computation.completed());
  EXPECT_TRUE(tensor.IsComputed());
}

TEST(ComputationTest, RunBlockStopsWhenTold) {
  Tensor tensor(3 * kBlockBytes);
  int looks = 0;
  Computation computation(Work{kOp, tensor.segments()}, [&] { return ++looks == 2; });
  EXPECT_TRUE(computation.RunBlock());
  EXPECT_FALSE(computation.RunBlock());
  EXPECT_FALSE(computation.completed());
}

TEST(ComputationTest, RunOnComputesEveryBlockAndIsDoneOnce) {
  WorkerPool pool(3);
  InlineExecutor inline_executor;
  for (Executor* executor :
       {static_cast<Executor*>(&pool), static_cast<Executor*>(&inline_executor)}) {
    for (const std::size_t bytes : Sizes()) {
      Tensor tensor(bytes);
      Computation computation({kOp, tensor.segments()}, [] { return false; });
      std::promise<bool> done;  // a second call would throw
      computation.RunOn(*executor, [&done](bool complete) { done.set_value(complete); });
      EXPECT_TRUE(done.get_future().get());
      EXPECT_TRUE(tensor.IsComputed()) << bytes;
    }
  }
}

TEST(ComputationTest, StopsBetweenBlocks) {
  Tensor tensor(3 * kBlockBytes);
  int looks = 0;
  Computation computation({kOp, tensor.segments()}, [&looks] { return ++looks == 3; });
  EXPECT_FALSE(computation.Run());
  EXPECT_EQ(looks, 3);
  EXPECT_GE(tensor.ComputedBytes(), 2 * kBlockBytes);
  EXPECT_FALSE(tensor.IsComputed());
}

TEST(ComputationTest, StopsBeforeTheFirstBlock) {
  Tensor tensor(4096);
  Computation computation({kOp, tensor.segments()}, [] { return true; });
  EXPECT_FALSE(computation.Run());
  EXPECT_LT(tensor.ComputedBytes(), 256U);
}

TEST(ComputationTest, IsDoneOnceWhenStopped) {
  QueueExecutor executor(4);
  Tensor tensor(2 * kSplitBytes);
  std::atomic<int> looks = 0;
  Computation computation({kOp, tensor.segments()}, [&looks] { return ++looks >= 3; });
  std::vector<bool> done;
  computation.RunOn(executor, [&done](bool complete) { done.push_back(complete); });
  while (executor.queued() > 0) executor.RunNext();
  EXPECT_EQ(done, std::vector<bool>{false});
  EXPECT_EQ(looks, 3);
}

struct Split {
  std::size_t bytes;
  int width;
  std::size_t pieces;
};

TEST(ComputationTest, HasAsManyPiecesAsThreadsAndBlocksAllow) {
  for (const Split& row :
       {Split{0, 8, 1}, Split{kSplitBytes - 4, 8, 1}, Split{kSplitBytes, 1, 1},
        Split{kSplitBytes, 2, 2}, Split{kSplitBytes, 64, kSplitBytes / kBlockBytes},
        Split{kSplitBytes + 4, 64, kSplitBytes / kBlockBytes + 1}}) {
    SCOPED_TRACE(::testing::Message() << row.bytes << " bytes on " << row.width);
    QueueExecutor executor(row.width);
    Tensor tensor(row.bytes);
    Computation computation({kOp, tensor.segments()}, nullptr);
    int done = 0;
    computation.RunOn(executor, [&done](bool complete) { done += complete ? 1 : 100; });
    EXPECT_EQ(executor.queued(), row.pieces);
    while (executor.queued() > 0) executor.RunNext();
    EXPECT_EQ(done, 1);
    EXPECT_TRUE(tensor.IsComputed());
  }
}

// Both threads must be inside the computation at once for the gate to open.
TEST(ComputationTest, RunsOnSeveralThreadsAtTheSameTime) {
  Tensor tensor(kSplitBytes);
  std::latch gate(2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Computation computation({kOp, tensor.segments()}, [&] {
    bool first = false;
    {
      const std::lock_guard lock(mutex);
      first = threads.insert(std::this_thread::get_id()).second;
    }
    if (first) gate.arrive_and_wait();
    return false;
  });
  std::promise<bool> done;
  WorkerPool pool(2);
  computation.RunOn(pool, [&done](bool complete) { done.set_value(complete); });
  EXPECT_TRUE(done.get_future().get());
  EXPECT_EQ(threads.size(), 2U);
  EXPECT_TRUE(tensor.IsComputed());
}

// Pieces may stand in a busy executor's queue long after others did their part.
TEST(ComputationTest, IsDoneAndGoneBeforeTheLastPiecesBegin) {
  QueueExecutor executor(3);
  Tensor tensor(kSplitBytes);
  auto computation =
      std::make_unique<Computation>(Work{kOp, tensor.segments()}, [] { return false; });
  int done = 0;
  computation->RunOn(executor, [&](bool complete) {
    EXPECT_TRUE(complete);
    ++done;
    computation.reset();
  });
  executor.RunNext();
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(tensor.IsComputed());
  EXPECT_EQ(executor.queued(), 2U);
  while (executor.queued() > 0) executor.RunNext();
  EXPECT_EQ(done, 1);
}

// Under the sanitizers: whatever still touches the object after done begins is reported.
TEST(ComputationTest, GoesInItsDoneUnderManyThreads) {
  WorkerPool pool(4);
  const Tensor original(kSplitBytes);
  for (int round = 0; round < 50; ++round) {
    Tensor tensor = original;
    std::promise<bool> done;
    auto* computation = new Computation({kOp, tensor.segments()}, [] { return false; });
    computation->RunOn(pool, [&done, computation](bool complete) {
      delete computation;
      done.set_value(complete);
    });
    EXPECT_TRUE(done.get_future().get());
    EXPECT_TRUE(tensor.IsComputed());
  }
}

}  // namespace
}  // namespace trelu
