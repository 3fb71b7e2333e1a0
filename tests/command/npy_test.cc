#include "client/command/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/command/files.h"
#include "tests/command/npy_files.h"

namespace trelu::command {
namespace {

struct GoodCase {
  std::string name;
  std::string file;
  std::optional<DType> stated;
  DType dtype;
  std::vector<std::int64_t> shape;
  bool fortran_order;
  std::string elements;  // little-endian
};

const GoodCase kGoodCases[] = {
    {"Version1",
     File(1, Header("<f4", "False", "(2,)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {2},
     false,
     kOneAndHalf},
    {"Version2",
     File(2, Header("<f4", "False", "(2,)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {2},
     false,
     kOneAndHalf},
    {"Version3",
     File(3, Header("<f4", "False", "(2,)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {2},
     false,
     kOneAndHalf},
    {"NativeOrder",
     File(1, Header("=f4", "False", "(2, 1)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {2, 1},
     false,
     kOneAndHalf},
    {"NoOrder",
     File(1, Header("f4", "False", "(1, 2)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {1, 2},
     false,
     kOneAndHalf},
    {"BigEndianFloat32",
     File(1, Header(">f4", "False", "(2,)"), Hex("3fc00000 3f000000")),
     {},
     DType::kFloat32,
     {2},
     false,
     kOneAndHalf},
    {"BigEndianFloat16",
     File(1, Header(">f2", "False", "(2,)"), Hex("3e00 c000")),
     {},
     DType::kFloat16,
     {2},
     false,
     Hex("003e 00c0")},
    {"BigEndianFloat64",
     File(1, Header(">f8", "False", "(1,)"), Hex("3ff8000000000001")),
     {},
     DType::kFloat64,
     {1},
     false,
     Hex("010000000000f83f")},
    {"FortranOrder",
     File(1, Header("<f4", "True", "(1, 2)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {1, 2},
     true,
     kOneAndHalf},
    {"Scalar",
     File(1, Header("<f4", "False", "()"), Hex("00002040")),
     {},
     DType::kFloat32,
     {},
     false,
     Hex("00002040")},
    {"NoElements",
     File(1, Header("<f8", "False", "(2, 0)"), ""),
     {},
     DType::kFloat64,
     {2, 0},
     false,
     ""},
    {"KeysInAnyOrder",
     File(1, "{\"shape\":(2,),\n\t'fortran_order':False,'descr':\"<f4\"}", kOneAndHalf),
     {},
     DType::kFloat32,
     {2},
     false,
     kOneAndHalf},
    {"Python2Longs",
     File(1, Header("<f4", "False", "(2L, 1L)"), kOneAndHalf),
     {},
     DType::kFloat32,
     {2, 1},
     false,
     kOneAndHalf},
    {"VoidStatedBFloat16",
     File(1, Header("V2", "False", "(2,)"), Hex("803f 0040")),
     DType::kBFloat16,
     DType::kBFloat16,
     {2},
     false,
     Hex("803f 0040")},
    {"BarVoidStatedBFloat16",
     File(1, Header("|V2", "False", "(2,)"), Hex("803f 0040")),
     DType::kBFloat16,
     DType::kBFloat16,
     {2},
     false,
     Hex("803f 0040")},
    {"LittleVoidStatedBFloat16",
     File(1, Header("<V2", "False", "(2,)"), Hex("803f 0040")),
     DType::kBFloat16,
     DType::kBFloat16,
     {2},
     false,
     Hex("803f 0040")},
    {"NamedBFloat16",
     File(1, Header("bfloat16", "False", "(2,)"), Hex("803f 0040")),
     {},
     DType::kBFloat16,
     {2},
     false,
     Hex("803f 0040")},
    {"StatedAsItIs",
     File(1, Header("<f4", "False", "(2,)"), kOneAndHalf),
     DType::kFloat32,
     DType::kFloat32,
     {2},
     false,
     kOneAndHalf},
};

class NpyGood : public testing::TestWithParam<GoodCase> {};

TEST_P(NpyGood, IsRead) {
  const GoodCase& good = GetParam();
  // Steps that cut elements, too.
  for (const std::size_t step : {1U, 3U, 8U, 1024U}) {
    const absl::StatusOr<TensorInput> input = Read(good.file, good.stated);
    ASSERT_TRUE(input.ok()) << input.status();
    EXPECT_EQ(input->spec, *TensorSpec::Create(good.dtype, good.shape));
    EXPECT_EQ(input->fortran_order, good.fortran_order);
    EXPECT_EQ(*ReadAll(input->source, input->spec.bytes(), step), good.elements) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Npy, NpyGood, testing::ValuesIn(kGoodCases),
                         [](const auto& info) { return info.param.name; });

TEST(Npy, PreambleIsAsNumPyWritesIt) {
  const auto spec = *TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{2, 3});
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(NpyPreamble(spec, false), std::string(kNpyMagic) + std::string("\1\0\x76\0", 4) + text +
                                          std::string(117 - text.size(), ' ') + "\n");
}

TEST(Npy, PreamblesAreReadBack) {
  for (const DType dtype : kAllDTypes) {
    for (const bool fortran : {false, true}) {
      for (const std::vector<std::int64_t>& shape :
           {std::vector<std::int64_t>{}, {3}, {0}, {2, 1}, std::vector<std::int64_t>(64, 1)}) {
        const auto spec = *TensorSpec::Create(dtype, shape);
        const std::string preamble = NpyPreamble(spec, fortran);
        EXPECT_EQ(preamble.size() % 64, 0U);
        const auto input = Read(preamble + std::string(spec.bytes(), '\0'), dtype);
        ASSERT_TRUE(input.ok()) << input.status();
        EXPECT_EQ(input->spec, spec);
        EXPECT_EQ(input->fortran_order, fortran);
      }
    }
  }
}

}  // namespace
}  // namespace trelu::command
