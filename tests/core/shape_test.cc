#include "trelu/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trelu {
namespace {

constexpr std::int64_t kMax = INT64_MAX;

struct GoodShape {
  std::string name;
  std::vector<std::int64_t> dims;
  std::int64_t elements;
};

class GoodShapeTest : public ::testing::TestWithParam<GoodShape> {};

TEST_P(GoodShapeTest, KeepsDimsAndCountsElements) {
  const auto shape = Shape::Create(GetParam().dims);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->element_count(), GetParam().elements);
  EXPECT_THAT(shape->dims(), ::testing::ElementsAreArray(GetParam().dims));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, GoodShapeTest,
    ::testing::ValuesIn(std::vector<GoodShape>{
        {"Scalar", {}, 1},
        {"OneElement", {1}, 1},
        {"Matrix", {3, 4}, 12},
        {"Transposed", {4, 3}, 12},
        {"Empty", {0}, 0},
        {"EmptyBesideSizes", {2, 0}, 0},
        {"EmptyBesideTheLargest", {0, kMax}, 0},
        {"Rank8", {1, 1, 1, 1, 1, 1, 1, 2}, 2},
        {"Rank64", std::vector<std::int64_t>(64, 1), 1},
        {"Largest", {kMax}, kMax},
        {"LargestInParts", {std::int64_t{1} << 31, std::int64_t{1} << 31}, std::int64_t{1} << 62},
    }),
    [](const auto& info) { return info.param.name; });

struct BadShape {
  std::string name;
  std::vector<std::int64_t> dims;
  std::string message;
};

class BadShapeTest : public ::testing::TestWithParam<BadShape> {};

TEST_P(BadShapeTest, IsAnInvalidArgumentThatNamesTheField) {
  const auto shape = Shape::Create(GetParam().dims);
  EXPECT_EQ(shape.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shape.status().message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadShapeTest,
    ::testing::ValuesIn(std::vector<BadShape>{
        {"MinusOne", {-1}, "shape[0] = -1: must be >= 0"},
        {"SecondNegative", {2, -4}, "shape[1] = -4: must be >= 0"},
        {"MostNegative", {INT64_MIN}, "shape[0] = -9223372036854775808: must be >= 0"},
        {"NegativeBesideZero", {0, -1}, "shape[1] = -1: must be >= 0"},
        {"ProductWrapsToZero",
         {std::int64_t{1} << 32, std::int64_t{1} << 32},
         "shape: element count overflows int64"},
        {"ProductWrapsToZeroOfThree",
         {std::int64_t{1} << 32, std::int64_t{1} << 32, 16},
         "shape: element count overflows int64"},
        {"TwiceTheLargest", {kMax, 2}, "shape: element count overflows int64"},
        {"ZeroAfterOverflow",
         {std::int64_t{1} << 32, std::int64_t{1} << 32, 0},
         "shape: element count overflows int64"},
        {"ZeroBeforeOverflow", {0, kMax, 2}, "shape: element count overflows int64"},
        {"Rank65", std::vector<std::int64_t>(65, 1), "rank 65: at most 64"},
        {"Rank1000", std::vector<std::int64_t>(1000, 1), "rank 1000: at most 64"},
        {"Rank65OfZeros", std::vector<std::int64_t>(65, 0), "rank 65: at most 64"},
    }),
    [](const auto& info) { return info.param.name; });

TEST(ShapeTest, ByDefaultIsAScalar) {
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_TRUE(Shape().dims().empty());
  EXPECT_EQ(Shape(), *Shape::Create({}));
}

TEST(ShapeTest, IsEqualWhenDimsAre) {
  const std::vector<std::int64_t> dims = {2, 3};
  const std::vector<std::int64_t> transposed = {3, 2};
  EXPECT_EQ(*Shape::Create(dims), *Shape::Create(dims));
  EXPECT_FALSE(*Shape::Create(dims) == *Shape::Create(transposed));
}

}  // namespace
}  // namespace trelu
