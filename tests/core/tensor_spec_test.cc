#include "trelu/tensor_spec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trelu {
namespace {

struct SpecRow {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> dims;
  std::uint64_t bytes;
  std::string message;  // empty: the spec is good
};

class TensorSpecTest : public ::testing::TestWithParam<SpecRow> {};

TEST_P(TensorSpecTest, CountsBytesOrNamesTheField) {
  const auto spec = TensorSpec::Create(GetParam().dtype, GetParam().dims);
  EXPECT_EQ(spec.status().message(), GetParam().message);
  if (!spec.ok()) {
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  EXPECT_EQ(spec->bytes(), GetParam().bytes);
  EXPECT_EQ(spec->dtype(), GetParam().dtype);
  EXPECT_EQ(spec->shape(), *Shape::Create(GetParam().dims));
}

constexpr char kTooManyBytes[] = "shape: byte count overflows int64";

INSTANTIATE_TEST_SUITE_P(
    Rows, TensorSpecTest,
    ::testing::ValuesIn(std::vector<SpecRow>{
        {"Scalar", DType::kFloat32, {}, 4, ""},
        {"Float16", DType::kFloat16, {3, 5}, 30, ""},
        {"BFloat16", DType::kBFloat16, {3, 5}, 30, ""},
        {"Float64", DType::kFloat64, {3, 5}, 120, ""},
        {"Empty", DType::kFloat32, {2, 0}, 0, ""},
        {"EmptyBesideHugeSizes", DType::kFloat64, {0, INT64_MAX}, 0, ""},
        {"LargestFloat16", DType::kFloat16, {INT64_MAX / 2}, INT64_MAX - 1, ""},
        {"Float16OneMore", DType::kFloat16, {INT64_MAX / 2 + 1}, 0, kTooManyBytes},
        {"Float32Wraps", DType::kFloat32, {std::int64_t{1} << 61}, 0, kTooManyBytes},
        {"Float64WrapsToZero", DType::kFloat64, {std::int64_t{1} << 61}, 0, kTooManyBytes},
        {"BadShape", DType::kFloat32, {2, -1}, 0, "shape[1] = -1: must be >= 0"},
    }),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trelu
