#include "core/narrow_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/core/scalar_oracle.h"

namespace trelu {
namespace {

std::uint16_t Narrow(DType dtype, float value) {
  return dtype == DType::kFloat16 ? ToFloat16Bits(value) : ToBFloat16Bits(value);
}

class NarrowFloat : public ::testing::TestWithParam<DType> {};

// Around every number of the type and every midpoint between two: where rounding can go wrong.
TEST_P(NarrowFloat, IsTheNearestNumberAroundEveryNumberAndMidpoint) {
  const std::uint32_t infinity = GetParam() == DType::kFloat16 ? 0x7c00 : 0x7f80;
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double number = testing::Decode(GetParam(), bits);
    const double next = bits + 1 < infinity ? testing::Decode(GetParam(), bits + 1)
                                            : 2 * number - testing::Decode(GetParam(), bits - 1);
    for (const double centre : {number, (number + next) / 2}) {
      const auto middle = std::bit_cast<std::uint32_t>(static_cast<float>(centre));
      for (std::uint32_t near = middle < 2 ? 0 : middle - 2; near <= middle + 2; ++near) {
        for (const std::uint32_t sign : {0U, 0x80000000U}) {
          const auto value = std::bit_cast<float>(near | sign);
          ASSERT_EQ(Narrow(GetParam(), value), testing::NearestBits(GetParam(), value)) << value;
        }
      }
    }
  }
}

TEST_P(NarrowFloat, IsTheNearestNumberAcrossTheWholeRange) {
  constexpr std::uint32_t kStep = 65521;  // prime: meets every exponent and all kinds of mantissas
  for (std::uint32_t bits = 0; bits < 0x7f800000; bits += kStep) {
    const auto value = std::bit_cast<float>(bits);
    ASSERT_EQ(Narrow(GetParam(), value), testing::NearestBits(GetParam(), value)) << value;
  }
}

TEST_P(NarrowFloat, KeepsInfinityAndItsSign) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::uint16_t bits = GetParam() == DType::kFloat16 ? 0x7c00 : 0x7f80;
  EXPECT_EQ(Narrow(GetParam(), infinity), bits);
  EXPECT_EQ(Narrow(GetParam(), -infinity), bits | 0x8000);
  EXPECT_EQ(Narrow(GetParam(), std::numeric_limits<float>::max()), bits);
}

TEST_P(NarrowFloat, KeepsEveryNanANan) {
  for (const std::uint32_t bits :
       {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    const std::uint16_t narrow = Narrow(GetParam(), std::bit_cast<float>(bits));
    EXPECT_TRUE(std::isnan(testing::Decode(GetParam(), narrow))) << std::hex << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NarrowFloat, ::testing::Values(DType::kFloat16, DType::kBFloat16),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace trelu
