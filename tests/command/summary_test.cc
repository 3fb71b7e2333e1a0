#include "client/command/summary.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/command/files.h"

namespace trelu::command {
namespace {

std::string Summarise(DType dtype, const std::string& bytes, std::size_t step = 1024) {
  const std::vector<std::int64_t> shape = {
      static_cast<std::int64_t>(bytes.size() / ElementBytes(dtype))};
  Summary summary(*TensorSpec::Create(dtype, shape));
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    summary.Add(AsBytes(bytes).subspan(at, std::min(step, bytes.size() - at)));
  }
  return summary.Text();
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Summary, SaysWhatAResultHolds) {
  const std::string bytes = Bytes<float>({0, 1.5F, 0, -3, 2, 7, 0, 4, 0, 5});
  const std::string text =
      "nonzero   6 of 10 (60.0 %)\n"
      "min, max  -3, 7\n"
      "elements  0, 1.5, 0, -3, ..., 0, 4, 0, 5\n"
      "crc32c    1b61cc4d\n";
  for (const std::size_t step : {1U, 3U, 5U, 8U, 1024U}) {
    EXPECT_EQ(Summarise(DType::kFloat32, bytes, step), text) << step;
  }
}

struct ExtentRow {
  std::string name;
  DType dtype;
  std::string bytes;
  std::string min_max;
};

const ExtentRow kExtents[] = {
    {"Float16", DType::kFloat16, Hex("00fc 007c 00c0"), "-inf, inf"},
    {"Float16Negative", DType::kFloat16, Hex("00bc 00c0 0080"), "-2, -0"},
    {"BFloat16", DType::kBFloat16, Hex("80bf 0040 c07f"), "-1, 2"},
    {"Float64", DType::kFloat64, Bytes<double>({-1e300, -2, 1e-300}), "-1e+300, 1e-300"},
    {"NaNIsNeither", DType::kFloat32, Hex("0000c07f 0000c0ff 0000803f ffffffff ffffff7f"), "1, 1"},
};

TEST(Summary, OrdersNumbersOfEveryType) {
  for (const ExtentRow& row : kExtents) {
    const std::string text = Summarise(row.dtype, row.bytes);
    EXPECT_NE(text.find("min, max  " + row.min_max + "\n"), std::string::npos) << row.name << "\n"
                                                                               << text;
  }
}

TEST(Summary, HasNoExtentOfNaNs) {
  EXPECT_EQ(Summarise(DType::kFloat32, Hex("0000c07f")).find("min"), std::string::npos);
}

}  // namespace
}  // namespace trelu::command
