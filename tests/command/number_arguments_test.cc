#include "client/command/number_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

namespace trelu::command {
namespace {

struct GoodAlpha {
  std::string text;
  std::uint32_t bits;
};

const GoodAlpha kGoodAlphas[] = {
    {"1", 0x3f800000},
    {"-1", 0xbf800000},
    {"+1", 0x3f800000},
    {".5", 0x3f000000},
    {"0.1", 0x3dcccccd},
    {"-0", 0x80000000},
    {"1e-45", 0x00000001},
    {"1e-50", 0x00000000},
    {"1e39", 0x7f800000},
    {"-1e39", 0xff800000},
    {"16777217", 0x4b800000},          // a tie, to even
    {"16777217.0000001", 0x4b800001},  // just above it: rounded once, not by way of a double
    {"0x1.8p+1", 0x40400000},
    {"0x1.000001p0", 0x3f800000},  // a tie, to even
    {"0x1.00000100000000001p0", 0x3f800001},
    {"inf", 0x7f800000},
    {"-inf", 0xff800000},
    {"Infinity", 0x7f800000},
    {"nan", 0x7fc00000},
    {"NaN", 0x7fc00000},
};

TEST(ParseAlpha, RoundsOnceToFloat32) {
  for (const GoodAlpha& good : kGoodAlphas) {
    const absl::StatusOr<float> alpha = ParseAlpha(good.text);
    ASSERT_TRUE(alpha.ok()) << alpha.status();
    EXPECT_EQ(std::bit_cast<std::uint32_t>(*alpha), good.bits) << good.text;
  }
}

TEST(ParseAlpha, RefusesWhatIsNoNumber) {
  for (const std::string text :
       {"", " 1", "1 ", "1,5", "one", "1.0f", "0x", "nan(1)", "--1", "1e"}) {
    EXPECT_EQ(ParseAlpha(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_FALSE(ParseAlpha(std::string("1\0", 2)).ok());
}

TEST(ParseShape, TakesListsOfNumbers) {
  EXPECT_THAT(*ParseShape(""), testing::IsEmpty());
  EXPECT_THAT(*ParseShape("0"), testing::ElementsAre(0));
  EXPECT_THAT(*ParseShape("2,3,4"), testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(*ParseShape("-1"), testing::ElementsAre(-1));
  for (const std::string text : {",", "2,", "2,,3", "2x3", "2.0", "9223372036854775808"}) {
    EXPECT_EQ(ParseShape(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace trelu::command
