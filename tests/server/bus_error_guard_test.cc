// What a shrunk object does to the mapping, and what it leaves alone.
#include "server/shared_memory/bus_error_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/support/guarded_object.h"

namespace trelu::server {
namespace {

using trelu::testing::GuardedObject;
using trelu::testing::kPassing;
using trelu::testing::PassingPrefix;

constexpr std::size_t kPageBytes = 4096;
const ThresholdedRelu kOp(DType::kFloat32, 1.0F);

std::span<const std::byte> BytesOf(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
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

TEST(BusErrorGuard, KeepsErrno) {
  const GuardedObject guarded(kPageBytes);
  guarded.object().Resize(0);
  errno = EDOM;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // or the compiler would answer itself
  guarded.floats()[0] = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
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
