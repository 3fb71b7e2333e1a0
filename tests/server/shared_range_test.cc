// Which bytes a request gets, and which of them two ranges have in common.
#include "server/shared_memory/shared_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "server/shared_memory/shared_memory.h"
#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using ::testing::HasSubstr;
using trelu::testing::SharedObject;
using Overlap = SharedRange::Overlap;

class SharedRangeTest : public ::testing::Test {
 protected:
  InlineExecutor here_;
  SharedMemory memory_{"/", {.max_bytes = std::uint64_t{1} << 40}, here_};
  SharedObject object_{4096};
};

struct Lookup {
  const char* name;
  std::uint64_t offset;
  std::uint64_t bytes;
  bool fits;
};

class SharedRangeLookup : public SharedRangeTest, public ::testing::WithParamInterface<Lookup> {};

TEST_P(SharedRangeLookup, StaysWithinTheRegion) {
  ASSERT_TRUE(memory_.Register("a", object_.key(), 16, 100).ok());
  const auto range = memory_.Find("a", GetParam().offset, GetParam().bytes);
  if (GetParam().fits) {
    ASSERT_TRUE(range.ok()) << range.status();
    EXPECT_EQ(range->bytes().size(), GetParam().bytes);
    return;
  }
  EXPECT_EQ(range.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(range.status().message()), HasSubstr("region 'a' has 100 bytes"));
}

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

INSTANTIATE_TEST_SUITE_P(
    Lookups, SharedRangeLookup,
    ::testing::Values(Lookup{"Whole", 0, 100, true}, Lookup{"Tail", 99, 1, true},
                      Lookup{"NothingAtTheEnd", 100, 0, true}, Lookup{"OneTooMany", 0, 101, false},
                      Lookup{"OneTooFar", 100, 1, false}, Lookup{"NothingBeyond", 101, 0, false},
                      Lookup{"SumWraps", 50, kMax - 49, false}, Lookup{"Largest", kMax, 1, false}),
    [](const auto& test) { return test.param.name; });

struct Pair {
  const char* name;
  Lookup a;  // of the region at offset 0
  Lookup b;  // of another region of the same object, at offset 64
  Overlap overlap;
};

class SharedRangePair : public SharedRangeTest, public ::testing::WithParamInterface<Pair> {};

TEST_P(SharedRangePair, OverlapsByItsPlaceInTheObject) {
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 256).ok());
  ASSERT_TRUE(memory_.Register("b", object_.key(), 64, 128).ok());
  const auto& [name, a, b, overlap] = GetParam();
  const SharedRange range_a = memory_.Find("a", a.offset, a.bytes).value();
  const SharedRange range_b = memory_.Find("b", b.offset, b.bytes).value();
  EXPECT_EQ(Compare(range_a, range_b), overlap);
  EXPECT_EQ(Compare(range_b, range_a), overlap);
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, SharedRangePair,
    ::testing::Values(Pair{"Same", {"", 64, 8, true}, {"", 0, 8, true}, Overlap::kSame},
                      Pair{"AllOfIt", {"", 64, 128, true}, {"", 0, 128, true}, Overlap::kSame},
                      Pair{"Before", {"", 0, 64, true}, {"", 0, 128, true}, Overlap::kNone},
                      Pair{"Behind", {"", 192, 64, true}, {"", 0, 128, true}, Overlap::kNone},
                      Pair{"OneByte", {"", 0, 65, true}, {"", 0, 128, true}, Overlap::kPartial},
                      Pair{"LastByte", {"", 191, 8, true}, {"", 0, 128, true}, Overlap::kPartial},
                      Pair{"Inside", {"", 0, 256, true}, {"", 8, 8, true}, Overlap::kPartial},
                      Pair{"Shorter", {"", 64, 4, true}, {"", 0, 8, true}, Overlap::kPartial},
                      Pair{"Shifted", {"", 68, 8, true}, {"", 0, 8, true}, Overlap::kPartial},
                      Pair{"Empty", {"", 64, 0, true}, {"", 0, 0, true}, Overlap::kNone},
                      Pair{"EmptyInside", {"", 68, 0, true}, {"", 0, 8, true}, Overlap::kNone},
                      Pair{"SameOffsets", {"", 0, 8, true}, {"", 0, 8, true}, Overlap::kNone}),
    [](const auto& test) { return test.param.name; });

TEST_F(SharedRangeTest, RangesOfDifferentObjectsNeverOverlap) {
  const SharedObject other(4096);
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 64).ok());
  ASSERT_TRUE(memory_.Register("b", other.key(), 0, 64).ok());
  EXPECT_EQ(Compare(memory_.Find("a", 0, 64).value(), memory_.Find("b", 0, 64).value()),
            Overlap::kNone);
}

}  // namespace
}  // namespace trelu::server
