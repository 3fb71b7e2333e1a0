#include "trelu/dtype.h"

#include <gtest/gtest.h>

#include <array>

namespace trelu {
namespace {

struct DTypeRow {
  DType dtype;
  std::int32_t onnx;
  std::string_view name;
  std::size_t element_bytes;
};

constexpr std::array kRows = {
    DTypeRow{DType::kFloat32, 1, "float32", 4},
    DTypeRow{DType::kFloat16, 10, "float16", 2},
    DTypeRow{DType::kFloat64, 11, "float64", 8},
    DTypeRow{DType::kBFloat16, 16, "bfloat16", 2},
};

TEST(DTypeTest, HasOnnxNumberNameAndSize) {
  EXPECT_EQ(kRows.size(), kAllDTypes.size());
  for (const DTypeRow& row : kRows) {
    EXPECT_EQ(static_cast<std::int32_t>(row.dtype), row.onnx);
    EXPECT_EQ(Name(row.dtype), row.name);
    EXPECT_EQ(ElementBytes(row.dtype), row.element_bytes);
    EXPECT_EQ(DTypeFromOnnx(row.onnx), row.dtype);
    EXPECT_EQ(DTypeFromName(row.name), row.dtype);
  }
}

TEST(DTypeTest, TakesNoOtherNumber) {
  int known = 0;
  for (std::int32_t number = -100; number < 100; ++number)
    known += DTypeFromOnnx(number).has_value() ? 1 : 0;
  EXPECT_EQ(known, 4);
  EXPECT_EQ(DTypeFromOnnx(INT32_MAX), std::nullopt);
  EXPECT_EQ(DTypeFromOnnx(INT32_MIN), std::nullopt);
}

TEST(DTypeTest, TakesNoOtherName) {
  for (const char* name : {"", "float", "Float32", "float32 ", "FP16", "double", "int8"}) {
    EXPECT_EQ(DTypeFromName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace trelu
