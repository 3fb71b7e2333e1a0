// Numbers that others got wrong, one row each, on every level. Rows are bit patterns in hex.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/thresholded_relu.h"

namespace trelu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct SpecialValues {
  std::string name;
  DType dtype;
  float alpha;
  std::vector<std::uint64_t> x;
  std::vector<std::uint64_t> y;
};

std::vector<SpecialValues> Rows() {
  constexpr DType kHalf = DType::kFloat16;
  constexpr DType kBrain = DType::kBFloat16;
  constexpr DType kFloat = DType::kFloat32;
  constexpr DType kDouble = DType::kFloat64;
  const float negative_nan = std::copysign(kNan, -1.0F);
  return {
      {"EqualToAlphaDoesNotPass",
       kFloat,
       2,
       {0x3fffffff, 0x40000000, 0x40000001},
       {0, 0, 0x40000001}},
      {"ZeroAlpha",
       kFloat,
       0,
       {0xbf800000, 0, 0x3f000000, 0x40000000},
       {0, 0, 0x3f000000, 0x40000000}},
      {"AlphaBelowZero",
       kFloat,
       -1,
       {0xc0000000, 0xbf800000, 0xbf000000, 0x80000000, 0x3f000000},
       {0, 0, 0xbf000000, 0x80000000, 0x3f000000}},
      {"NegativesAboveAlphaPass",
       kFloat,
       -1,
       {0x3fc00000, 0x3f000000, 0xbf000000, 0xbfc00000},
       {0x3fc00000, 0x3f000000, 0xbf000000, 0}},
      {"MinusZeroKeepsItsSignFloat16", kHalf, -1, {0x8000, 0}, {0x8000, 0}},
      {"MinusZeroKeepsItsSignBFloat16", kBrain, -1, {0x8000, 0}, {0x8000, 0}},
      {"MinusZeroKeepsItsSignFloat32", kFloat, -1, {0x80000000, 0}, {0x80000000, 0}},
      {"MinusZeroKeepsItsSignFloat64",
       kDouble,
       -1,
       {0x8000000000000000, 0},
       {0x8000000000000000, 0}},
      {"ZerosAreNotAboveMinusZero", kHalf, -0.0F, {0x8000, 0, 1}, {0, 0, 1}},
      {"MinusZeroIsNotAboveZero", kBrain, 0, {0x8000, 0, 1}, {0, 0, 1}},
      {"MinusZeroIsAboveTheLargestNegativeSubnormal",
       kHalf,
       -0x1p-24F,
       {0x8001, 0x8000},
       {0, 0x8000}},
      {"NegativesGivePlusZero", kFloat, 1, {0xbfc00000}, {0}},
      {"NanGivesZero",
       kFloat,
       -kInfinity,
       {0x7fc00000, 0xffc00000, 0x7f800001, 0xbf800000},
       {0, 0, 0, 0xbf800000}},
      {"NanGivesZeroFloat16",
       kHalf,
       -kInfinity,
       {0x7e00, 0xfe00, 0x7c01, 0xfc01, 0xfc00, 0xfbff},
       {0, 0, 0, 0, 0, 0xfbff}},
      {"NanGivesZeroBFloat16",
       kBrain,
       -1,
       {0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7f80},
       {0, 0, 0, 0, 0x7f80}},
      {"NanAlpha", kFloat, kNan, {0x7f800000, 0x3f800000, 0x7fc00000}, {0, 0, 0}},
      {"NanAlphaFloat16", kHalf, kNan, {0x7c00, 0x3c00, 0x8000, 0x7e00}, {0, 0, 0, 0}},
      {"NegativeNanAlphaFloat16",
       kHalf,
       negative_nan,
       {0x7c00, 0x3c00, 0x8000, 0x7e00},
       {0, 0, 0, 0}},
      {"NegativeNanAlphaBFloat16", kBrain, negative_nan, {0x7f80, 0x3f80, 0x8000}, {0, 0, 0}},
      {"NanAlphaFloat64", kDouble, kNan, {0x7ff0000000000000}, {0}},
      {"Infinities", kFloat, 1, {0xff800000, 0x7f800000}, {0, 0x7f800000}},
      {"InfinityIsNotAboveInfinity", kFloat, kInfinity, {0x7f800000}, {0}},
      {"InfinityIsNotAboveInfinityFloat16", kHalf, kInfinity, {0x7c00, 0x7c01}, {0, 0}},
      {"SubnormalsPass", kFloat, 0, {1}, {1}},
      {"SubnormalsPassFloat64", kDouble, 0, {1}, {1}},
      {"SubnormalsPassBFloat16", kBrain, 0, {0x0001, 0x007f}, {0x0001, 0x007f}},
      {"SubnormalAlphaBFloat16", kBrain, 0x1p-127F, {0x0040, 0x0041}, {0, 0x0041}},
      {"AlphaRoundedUpBFloat16", kBrain, 0.1F, {0x3dcc, 0x3dcd, 0x3dce}, {0, 0, 0x3dce}},
      {"AlphaBetweenTwoBFloat16", kBrain, 0x1.1399aap-2F, {0x3e89, 0x3e8a, 0x3e8b}, {0, 0, 0x3e8b}},
      {"AlphaOverflowsFloat16", kHalf, 65520, {0x7bff, 0x7c00}, {0, 0}},
      {"AlphaJustBelowOverflowFloat16", kHalf, 65519, {0x7bff, 0x7c00}, {0, 0x7c00}},
      {"AlphaRoundedUpFloat16", kHalf, 0.3F, {0x34cc, 0x34cd, 0x34ce}, {0, 0, 0x34ce}},
      {"NegativesInOrderFloat16",
       kHalf,
       -1,
       {0xfc00, 0xc000, 0xbc00, 0xb800, 0x8000},
       {0, 0, 0, 0xb800, 0x8000}},
      {"AlphaIsAFloat32",
       kDouble,
       0.1F,
       {0x3fb999999999999a, 0x3fb99999a0000000, 0x3fb99999a0000001},
       {0, 0, 0x3fb99999a0000001}},
      {"Float64", kDouble, 1, {0x3ff8000000000000, 0x3fe0000000000000}, {0x3ff8000000000000, 0}},
  };
}

std::vector<std::byte> Bytes(DType dtype, const std::vector<std::uint64_t>& elements) {
  const std::size_t element_bytes = ElementBytes(dtype);
  std::vector<std::byte> bytes(elements.size() * element_bytes);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(bytes.data() + i * element_bytes, &elements[i], element_bytes);
  }
  return bytes;
}

class SpecialValuesTest : public ::testing::TestWithParam<SpecialValues> {};

TEST_P(SpecialValuesTest, OnEveryLevel) {
  const SpecialValues& row = GetParam();
  for (const KernelLevel level : SupportedKernelLevels()) {
    SCOPED_TRACE(std::string(Name(level)));
    const ThresholdedRelu op(row.dtype, row.alpha, level);
    // Once as they are, for the scalar end of the loop, and once many times over, for its vectors.
    for (const std::size_t times : {std::size_t{1}, std::size_t{200}}) {
      std::vector<std::uint64_t> x;
      std::vector<std::uint64_t> y;
      for (std::size_t i = 0; i < times; ++i) {
        x.insert(x.end(), row.x.begin(), row.x.end());
        y.insert(y.end(), row.y.begin(), row.y.end());
      }
      const std::vector<std::byte> input = Bytes(row.dtype, x);
      std::vector<std::byte> output(input.size());
      op.Apply(input, output.data());
      EXPECT_TRUE(output == Bytes(row.dtype, y));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SpecialValuesTest, ::testing::ValuesIn(Rows()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trelu
