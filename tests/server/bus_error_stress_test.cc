// Objects that shrink before, while and after several threads work on them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/support/guarded_object.h"

namespace trelu::server {
namespace {

using trelu::testing::GuardedObject;
using trelu::testing::kPassing;
using trelu::testing::PassingPrefix;

constexpr std::size_t kPageBytes = 4096;
#ifdef __SANITIZE_THREAD__
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif
const ThresholdedRelu kOp(DType::kFloat32, 1.0F);

std::chrono::nanoseconds DurationOfARun(std::size_t bytes) {
  std::vector<float> x(bytes / sizeof(float));
  const auto start = std::chrono::steady_clock::now();
  kOp.Apply(std::as_bytes(std::span(x)), reinterpret_cast<std::byte*>(x.data()));
  return std::chrono::steady_clock::now() - start;
}

// Every run must either have seen the whole object or say that it has not.
TEST(BusErrorGuardStress, NoTruncationDuringARunGoesUnseen) {
  constexpr std::size_t kBytes = std::size_t{1} << 18;
  constexpr int kRounds = kSlow ? 200 : 1000;
  constexpr int kReaders = 3;
  std::vector<std::vector<float>> results(kReaders, std::vector<float>(kBytes / sizeof(float)));
  std::array<bool, kReaders> lost{};
  std::unique_ptr<GuardedObject> guarded;
  std::barrier meet(kReaders + 1);
  const std::chrono::nanoseconds run_duration = DurationOfARun(kBytes);
  int unseen = 0;
  int before = 0;
  int middle = 0;
  int after = 0;
  {
    std::vector<std::jthread> readers;
    for (std::size_t reader = 0; reader < kReaders; ++reader) {
      readers.emplace_back([&, reader] {
        for (int round = 0; round < kRounds; ++round) {
          meet.arrive_and_wait();
          kOp.Apply(guarded->bytes(), reinterpret_cast<std::byte*>(results[reader].data()));
          lost[reader] = guarded->lost();
          meet.arrive_and_wait();
        }
      });
    }
    std::minstd_rand random(1);
    for (int round = 0; round < kRounds; ++round) {
      guarded = std::make_unique<GuardedObject>(kBytes);
      const auto patience = run_duration * (random() % 1000) / 250;
      meet.arrive_and_wait();
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - start < patience) {
      }
      guarded->object().Resize(random() % (kBytes / kPageBytes) * kPageBytes);
      meet.arrive_and_wait();
      for (std::size_t reader = 0; reader < kReaders; ++reader) {
        const auto passing = PassingPrefix(results[reader]);
        if (!passing || (*passing < results[reader].size() && !lost[reader])) {
          ++unseen;
        } else {
          ++(*passing == 0 ? before : *passing < results[reader].size() ? middle : after);
        }
      }
    }
  }
  RecordProperty("before", before);
  RecordProperty("middle", middle);
  RecordProperty("after", after);
  EXPECT_EQ(unseen, 0);
  EXPECT_GT(middle, 0);
}

TEST(BusErrorGuardStress, ThreadsMayFaultAtTheSameTimeInPlace) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kPartBytes = 8 * kPageBytes;
  constexpr int kRounds = kSlow ? 200 : 600;
  std::unique_ptr<GuardedObject> guarded;
  std::atomic<int> not_seen = 0;
  std::barrier meet(kThreads + 1);
  std::vector<std::jthread> workers;
  for (std::size_t worker = 0; worker < kThreads; ++worker) {
    workers.emplace_back([&, worker] {
      for (int round = 0; round < kRounds; ++round) {
        meet.arrive_and_wait();
        const auto part = guarded->bytes().subspan(worker * kPartBytes, kPartBytes);
        kOp.Apply(part, part.data());
        if (!guarded->lost()) ++not_seen;
        meet.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    guarded = std::make_unique<GuardedObject>(kThreads * kPartBytes);
    guarded->object().Resize(0);
    meet.arrive_and_wait();
    meet.arrive_and_wait();
  }
  EXPECT_EQ(not_seen, 0);
}

// Guards come and go at the addresses of others, while somebody's object is lost.
TEST(BusErrorGuardStress, OthersMayComeAndGoMeanwhile) {
  constexpr std::size_t kThreads = 3;
  constexpr int kRounds = kSlow ? 200 : 600;
  std::atomic<int> damaged = 0;
  std::atomic<int> not_seen = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::minstd_rand random(static_cast<unsigned>(thread));
        for (int round = 0; round < kRounds; ++round) {
          const GuardedObject kept((1 + random() % 4) * kPageBytes);
          const GuardedObject shrunk((1 + random() % 4) * kPageBytes);
          shrunk.object().Resize(0);
          shrunk.floats()[0] = 1;
          if (!shrunk.lost()) ++not_seen;
          kept.floats()[1] = 3;
          if (kept.lost() || kept.object().Read<float>(0, 2) != std::vector<float>{kPassing, 3}) {
            ++damaged;
          }
        }
      });
    }
  }
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(not_seen, 0);
}

}  // namespace
}  // namespace trelu::server
