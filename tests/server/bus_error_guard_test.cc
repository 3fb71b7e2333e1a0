// Objects that shrink before, while and after the operator works on them.
#include "server/shared_memory/bus_error_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using trelu::testing::SharedObject;

constexpr std::size_t kPageBytes = 4096;
constexpr float kPassing = 2.0F;
const ThresholdedRelu kOp(DType::kFloat32, 1.0F);

std::span<const std::byte> BytesOf(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

// An object full of kPassing, mapped and guarded.
class GuardedObject {
 public:
  // `at`: where to map it; null: anywhere.
  explicit GuardedObject(std::size_t bytes, std::byte* at = nullptr) : object_(bytes) {
    object_.Fill(bytes / sizeof(float), kPassing);
    object_.Unlink();
    void* const mapped = mmap(at, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), object_.fd(), 0);
    EXPECT_NE(mapped, MAP_FAILED);
    bytes_ = {static_cast<std::byte*>(mapped), bytes};
    guard_.emplace(BusErrorGuard::Create(bytes_).value());
  }
  GuardedObject(const GuardedObject&) = delete;
  GuardedObject& operator=(const GuardedObject&) = delete;
  ~GuardedObject() {
    guard_.reset();
    munmap(bytes_.data(), bytes_.size());
  }

  std::span<std::byte> bytes() const { return bytes_; }
  float* floats() const { return reinterpret_cast<float*>(bytes_.data()); }
  const SharedObject& object() const { return object_; }
  bool lost() const { return guard_->lost(); }

 private:
  SharedObject object_;
  std::span<std::byte> bytes_;
  std::optional<BusErrorGuard> guard_;
};

// The elements before the first zero, if only zeros follow.
std::optional<std::size_t> PassingPrefix(const std::vector<float>& y) {
  const auto end = std::find_if(y.begin(), y.end(), [](float v) { return v != kPassing; });
  if (std::any_of(end, y.end(), [](float v) { return v != 0; })) return std::nullopt;
  return static_cast<std::size_t>(end - y.begin());
}

enum class Access { kRead, kInPlace, kWrite };

struct Truncation {
  std::string name;
  Access access;
  std::size_t left_bytes;
  bool lost;
};

class BusErrorGuardTruncation : public ::testing::TestWithParam<Truncation> {};

TEST_P(BusErrorGuardTruncation, LosesTheMappingAndNothingElse) {
  constexpr std::size_t kBytes = 16 * kPageBytes;
  const GuardedObject guarded(kBytes);
  guarded.object().Resize(GetParam().left_bytes);
  std::vector<float> other(kBytes / sizeof(float), kPassing);
  EXPECT_FALSE(guarded.lost());
  switch (GetParam().access) {
    case Access::kRead:
      kOp.Apply(guarded.bytes(), reinterpret_cast<std::byte*>(other.data()));
      EXPECT_EQ(PassingPrefix(other),
                (GetParam().left_bytes + kPageBytes - 1) / kPageBytes * kPageBytes / sizeof(float));
      break;
    case Access::kInPlace:
      kOp.Apply(guarded.bytes(), guarded.bytes().data());
      break;
    case Access::kWrite:
      kOp.Apply(BytesOf(other), guarded.bytes().data());
      break;
  }
  EXPECT_EQ(guarded.lost(), GetParam().lost);
  // From now on ordinary memory.
  std::ranges::fill(guarded.bytes(), std::byte{7});
  EXPECT_EQ(guarded.bytes().back(), std::byte{7});
  EXPECT_EQ(guarded.lost(), GetParam().lost);
}

std::vector<Truncation> Truncations() {
  std::vector<Truncation> all;
  for (const auto& [name, access] : {std::pair{"Read", Access::kRead},
                                     {"InPlace", Access::kInPlace},
                                     {"Write", Access::kWrite}}) {
    all.push_back({std::string(name) + "Nothing", access, 0, true});
    all.push_back({std::string(name) + "OnePage", access, kPageBytes, true});
    all.push_back({std::string(name) + "Half", access, 8 * kPageBytes, true});
    all.push_back({std::string(name) + "AllButAPage", access, 15 * kPageBytes, true});
    all.push_back({std::string(name) + "All", access, 16 * kPageBytes, false});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Truncations, BusErrorGuardTruncation, ::testing::ValuesIn(Truncations()),
                         [](const auto& test) { return test.param.name; });

// Every run must either have seen the whole object or say that it has not.
TEST(BusErrorGuard, NoTruncationDuringARunGoesUnseen) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  constexpr int kRounds = 2000;
  constexpr int kReaders = 3;
  std::vector<std::vector<float>> results(kReaders, std::vector<float>(kBytes / sizeof(float)));
  std::array<bool, kReaders> lost{};
  std::unique_ptr<GuardedObject> guarded;
  std::atomic<int> running = 0;
  std::barrier meet(kReaders + 1);
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
          ++running;
          kOp.Apply(guarded->bytes(), reinterpret_cast<std::byte*>(results[reader].data()));
          lost[reader] = guarded->lost();
          meet.arrive_and_wait();
        }
      });
    }
    std::minstd_rand random(1);
    for (int round = 0; round < kRounds; ++round) {
      guarded = std::make_unique<GuardedObject>(kBytes);
      const auto patience = random() % 40000;
      meet.arrive_and_wait();
      while (running == 0 && round % 8 != 0) {
      }
      for (std::atomic<unsigned> i = 0; i < patience; ++i) {
      }
      guarded->object().Resize(random() % (kBytes / kPageBytes) * kPageBytes);
      meet.arrive_and_wait();
      running = 0;
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
  EXPECT_GT(after, 0);
}

TEST(BusErrorGuard, ThreadsMayFaultAtTheSameTimeInPlace) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kPartBytes = 8 * kPageBytes;
  constexpr int kRounds = 1500;
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

TEST(BusErrorGuard, NeighboursKeepTheirBytes) {
  constexpr std::size_t kBytes = 3 * kPageBytes;
  void* const reserved =
      mmap(nullptr, 3 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  auto* const at = static_cast<std::byte*>(reserved);
  const GuardedObject below(kBytes, at);
  const GuardedObject shrunk(kBytes, at + kBytes);
  const GuardedObject above(kBytes, at + 2 * kBytes);
  shrunk.object().Resize(0);
  for (const GuardedObject* object : {&below, &shrunk, &above}) {
    kOp.Apply(object->bytes(), object->bytes().data());
  }
  EXPECT_FALSE(below.lost());
  EXPECT_TRUE(shrunk.lost());
  EXPECT_FALSE(above.lost());
  for (const GuardedObject* object : {&below, &above}) {
    EXPECT_THAT(std::span(object->floats(), kBytes / sizeof(float)), ::testing::Each(kPassing));
    object->floats()[0] = 5;
    EXPECT_EQ(object->object().Read<float>(0, 1)[0], 5);
  }
}

// Guards come and go at the addresses of others, while somebody's object is lost.
TEST(BusErrorGuard, OthersMayComeAndGoMeanwhile) {
  constexpr std::size_t kThreads = 3;
  constexpr int kRounds = 2000;
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

TEST(BusErrorGuard, KeepsErrno) {
  const GuardedObject guarded(kPageBytes);
  guarded.object().Resize(0);
  errno = EDOM;
  guarded.floats()[0] = 1;
  EXPECT_EQ(errno, EDOM);
  EXPECT_TRUE(guarded.lost());
}

TEST(BusErrorGuard, SlotsAreLimitedAndUsedAgain) {
  std::vector<std::byte> memory(1);
  std::vector<BusErrorGuard> guards;
  for (std::size_t i = 0; i < BusErrorGuard::kMaxGuards; ++i) {
    auto guard = BusErrorGuard::Create(memory);
    ASSERT_TRUE(guard) << i;
    guards.push_back(*std::move(guard));
  }
  EXPECT_FALSE(BusErrorGuard::Create(memory));
  guards.pop_back();
  EXPECT_TRUE(BusErrorGuard::Create(memory));
}

TEST(BusErrorGuard, ASlotOfALostMappingBeginsAnew) {
  {
    const GuardedObject guarded(kPageBytes);
    guarded.object().Resize(0);
    guarded.floats()[0] = 1;
    EXPECT_TRUE(guarded.lost());
  }
  EXPECT_FALSE(GuardedObject(kPageBytes).lost());
}

}  // namespace
}  // namespace trelu::server
