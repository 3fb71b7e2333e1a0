#include "client/command/show.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "client/command/element.h"
#include "tests/command/files.h"

namespace trelu::command {
namespace {

std::string Show(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  return ShowTensor(*TensorSpec::Create(DType::kFloat32, shape), std::as_bytes(std::span(values)));
}

std::vector<float> CountTo(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

struct ElementRow {
  DType dtype;
  std::string bytes;
  std::string text;
};

const ElementRow kElements[] = {
    {DType::kFloat16, Hex("003e"), "1.5"},
    {DType::kFloat16, Hex("662e"), "0.1"},
    {DType::kFloat16, Hex("ff7b"), "65500"},
    {DType::kFloat16, Hex("0100"), "6e-08"},
    {DType::kFloat16, Hex("0080"), "-0"},
    {DType::kFloat16, Hex("007c"), "inf"},
    {DType::kFloat16, Hex("00fc"), "-inf"},
    {DType::kFloat16, Hex("007e"), "nan"},
    {DType::kFloat16, Hex("0004"), "6.104e-05"},
    {DType::kBFloat16, Hex("cd3d"), "0.1"},
    {DType::kBFloat16, Hex("803f"), "1"},
    {DType::kBFloat16, Hex("0100"), "9e-41"},
    {DType::kBFloat16, Hex("7f7f"), "3.39e+38"},
    {DType::kBFloat16, Hex("80ff"), "-inf"},
    {DType::kFloat32, Hex("cdcccc3d"), "0.1"},
    {DType::kFloat32, Hex("01000000"), "1e-45"},
    {DType::kFloat32, Hex("ffffff3f"), "1.9999999"},
    {DType::kFloat64, Hex("9a9999999999b93f"), "0.1"},
    {DType::kFloat64, Hex("010000000000f03f"), "1.0000000000000002"},
};

TEST(ElementText, IsTheShortestThatReadsBack) {
  for (const ElementRow& row : kElements) {
    EXPECT_EQ(ElementText(row.dtype, AsBytes(row.bytes).data()), row.text);
  }
}

// The value nearest to `number` among all of a 16-bit type, by trying them all.
TEST(ElementText, SixteenBitTextsAreAllDifferent) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const int infinity = dtype == DType::kFloat16 ? 0x7c00 : 0x7f80;
    double before = -1;
    for (int bits = 0; bits < infinity; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const auto* element = reinterpret_cast<const std::byte*>(&pattern);
      const double value = ElementValue(dtype, element);
      const double text = std::stod(ElementText(dtype, element));
      EXPECT_GT(text, before) << bits;
      // No neighbour is as near to the text as the element itself.
      const auto next = static_cast<std::uint16_t>(bits + 1);
      const double above = ElementValue(dtype, reinterpret_cast<const std::byte*>(&next));
      EXPECT_LT(std::abs(text - value), std::abs(above - text)) << bits;
      before = text;
    }
  }
}

TEST(SpecText, NamesDTypeAndShape) {
  EXPECT_EQ(SpecText(*TensorSpec::Create(DType::kBFloat16, {})), "bfloat16 []");
  EXPECT_EQ(SpecText(*TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{2, 3})),
            "float32 [2, 3]");
}

TEST(ShowTensor, LooksLikeNumPy) {
  EXPECT_EQ(Show({}, {2.5F}), "2.5\n");
  EXPECT_EQ(Show({1}, {2.5F}), "[2.5]\n");
  EXPECT_EQ(Show({0}, {}), "[]\n");
  EXPECT_EQ(Show({2, 0}, {}), "[]\n");
  EXPECT_EQ(Show({2, 3}, {0, 0, 2, 3, 4, 5}), "[[0, 0, 2],\n [3, 4, 5]]\n");
  EXPECT_EQ(Show({3}, {-0.0F, 10, std::numeric_limits<float>::infinity()}), "[ -0,  10, inf]\n");
  EXPECT_EQ(Show({2, 2, 2}, CountTo(8)), "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]\n");
  EXPECT_EQ(Show({2, 1, 1, 1}, CountTo(2)), "[[[[0]]],\n\n\n [[[1]]]]\n");
}

TEST(ShowTensor, WrapsLongRows) {
  const std::string text = Show({30}, CountTo(30));
  EXPECT_EQ(text,
            "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18,\n"
            " 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]\n");
}

}  // namespace
}  // namespace trelu::command
