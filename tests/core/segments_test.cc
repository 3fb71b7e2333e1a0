#include "core/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/cut_copy.h"
#include "tests/core/scalar_oracle.h"

namespace trelu {
namespace {

using testing::CutCopy;
using testing::CutsEvery;
using testing::Expected;
using testing::InterestingInput;

constexpr float kAlpha = -1.0F;

class SegmentsTest : public ::testing::TestWithParam<DType> {
 protected:
  ThresholdedRelu op() const { return {GetParam(), kAlpha}; }
  std::size_t element_bytes() const { return ElementBytes(GetParam()); }

  // [begin, end) of the input cut at `cuts`, against the oracle; the rest must stay as it is.
  void Check(const std::vector<std::byte>& input, const std::vector<std::size_t>& cuts,
             std::size_t begin, std::size_t end) {
    const CutCopy copy(input, cuts);
    ASSERT_EQ(copy.segments().bytes(), input.size());
    const std::vector<std::byte> part =
        Expected(GetParam(), kAlpha, std::span(input).subspan(begin, end - begin));
    std::vector<std::byte> y(part.size());
    copy.segments().Apply(op(), begin, end, y.data());
    ASSERT_TRUE(y == part);
    ASSERT_TRUE(copy.Joined() == input);
    copy.segments().ApplyInPlace(op(), begin, end);
    std::vector<std::byte> expected = input;
    std::copy(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(begin));
    ASSERT_TRUE(copy.Joined() == expected);
  }
};

TEST_P(SegmentsTest, NoRangeAndEmptyRangesHoldNothing) {
  Segments segments;
  segments.ApplyInPlace(op(), 0, 0);
  segments.Append({});
  segments.Append({});
  EXPECT_EQ(segments.bytes(), 0U);
  segments.ApplyInPlace(op(), 0, 0);
}

TEST_P(SegmentsTest, EmptyRangesAnywhere) {
  const std::vector<std::byte> input = InterestingInput(GetParam(), kAlpha, 64, 1);
  Check(input, {0, 0, 1, 1, 1, 9, 64, 64}, 0, 64);
}

TEST_P(SegmentsTest, EveryPartOfEveryRangeSize) {
  const std::size_t bytes = 12 * element_bytes();
  const std::vector<std::byte> input = InterestingInput(GetParam(), kAlpha, bytes, 2);
  for (std::size_t range_bytes = 1; range_bytes <= bytes; ++range_bytes) {
    for (std::size_t begin = 0; begin <= bytes; begin += element_bytes()) {
      for (std::size_t end = begin; end <= bytes; end += element_bytes()) {
        Check(input, CutsEvery(range_bytes, bytes), begin, end);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Range sizes on both sides of what is gathered, and runs longer than one gathering.
TEST_P(SegmentsTest, RandomCuts) {
  std::mt19937 random(3);
  const auto up_to = [&random](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const std::size_t elements = up_to(6000);
    const std::size_t bytes = elements * element_bytes();
    const std::size_t longest = std::size_t{1} << up_to(12);
    std::vector<std::size_t> cuts;
    for (std::size_t cut = up_to(longest); cut < bytes; cut += up_to(longest)) {
      cuts.push_back(cut);
      // A few long ranges among short ones, as a header's slice before a payload's.
      if (up_to(20) == 0) cut += up_to(2000);
    }
    const std::size_t begin = up_to(elements);
    const std::size_t end = begin + up_to(elements - begin);
    Check(InterestingInput(GetParam(), kAlpha, bytes, static_cast<unsigned>(round)), cuts,
          begin * element_bytes(), end * element_bytes());
    if (HasFatalFailure()) return;
  }
}

// Neighbouring elements share ranges: a write outside a thread's own part is lost or reported.
TEST_P(SegmentsTest, ThreadsWorkOnDisjointParts) {
  constexpr std::size_t kThreads = 4;
  const std::size_t bytes = 3001 * element_bytes();
  for (const std::size_t range_bytes : {std::size_t{1}, std::size_t{3}, std::size_t{601}, bytes}) {
    const std::vector<std::byte> input = InterestingInput(GetParam(), kAlpha, bytes, 4);
    const CutCopy copy(input, CutsEvery(range_bytes, bytes));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      const std::size_t begin = 3001 * i / kThreads * element_bytes();
      const std::size_t end = 3001 * (i + 1) / kThreads * element_bytes();
      threads.emplace_back(
          [&copy, this, begin, end] { copy.segments().ApplyInPlace(op(), begin, end); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(copy.Joined() == Expected(GetParam(), kAlpha, input)) << range_bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, SegmentsTest, ::testing::ValuesIn(kAllDTypes),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace trelu
