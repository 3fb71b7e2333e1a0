#include "client/command/generated_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "client/command/element.h"
#include "tests/command/files.h"

namespace trelu::command {
namespace {

constexpr std::size_t kBytes = 200'000;  // more than three blocks

TEST(RandomSource, GivesTheSameInPiecesOfAnySize) {
  const std::string whole = *ReadAll(RandomSource(DType::kFloat32, 42), kBytes, kBytes);
  for (const std::size_t step : {1U, 3U, 8U, 4096U, 65536U, 65537U, 100'001U}) {
    EXPECT_EQ(*ReadAll(RandomSource(DType::kFloat32, 42), kBytes, step), whole) << step;
  }
}

TEST(RandomSource, GivesAnothersForAnotherSeedAndEveryBlock) {
  const std::string bytes = *ReadAll(RandomSource(DType::kFloat64, 1), kBytes, kBytes);
  EXPECT_NE(bytes, *ReadAll(RandomSource(DType::kFloat64, 2), kBytes, kBytes));
  EXPECT_NE(bytes.substr(0, 65536), bytes.substr(65536, 65536));
}

TEST(RandomSource, StaysInItsRangeWithAQuarterAboveOne) {
  for (const DType dtype : kAllDTypes) {
    const std::string bytes = *ReadAll(RandomSource(dtype, 7), kBytes, kBytes);
    const std::size_t count = kBytes / ElementBytes(dtype);
    std::size_t above = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = ElementValue(dtype, AsBytes(bytes).data() + i * ElementBytes(dtype));
      ASSERT_GE(std::abs(value), 0.25);
      ASSERT_LT(std::abs(value), 4);
      above += value > 1 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(above) / static_cast<double>(count), 0.25, 0.02) << Name(dtype);
  }
}

TEST(ZerosSource, GivesZeros) {
  EXPECT_EQ(*ReadAll(ZerosSource(), 100, 7), std::string(100, '\0'));
}

}  // namespace
}  // namespace trelu::command
