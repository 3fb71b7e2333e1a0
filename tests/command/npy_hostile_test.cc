// Files that are not what they say: each is refused by the field that is wrong, whatever it is.
#include "client/command/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/command/files.h"
#include "tests/command/npy_files.h"

namespace trelu::command {
namespace {

using testing::HasSubstr;

struct BadCase {
  std::string name;
  std::string file;
  std::optional<DType> stated;
  std::string message;
};

std::string Float32(const std::string& shape, const std::string& data = kOneAndHalf) {
  return File(1, Header("<f4", "False", shape), data);
}

const BadCase kBadCases[] = {
    {"Empty", "", {}, "does not begin with"},
    {"NotNpy", "PK\3\4 and more of it", {}, "does not begin with"},
    {"MagicAlone", std::string(kNpyMagic), {}, "does not begin with"},
    {"Version0", File(0, "{}", ""), {}, "version = 0.0: expected 1.0"},
    {"Version4", File(4, "{}", ""), {}, "version = 4.0"},
    {"LengthCut", std::string(kNpyMagic) + std::string("\1\0\1", 3), {}, "length = the end"},
    {"HeaderCut",
     std::string(kNpyMagic) + std::string("\1\0\xff\0{'descr'", 12),
     {},
     "length = 255: expected at most the 8 bytes left"},
    {"HugeLength",
     std::string(kNpyMagic) + Hex("0200 ffffffff 7b7d"),
     {},
     "length = 4294967295: expected at most 65536"},
    {"NoDictionary", File(1, "[1, 2]", ""), {}, "dictionary = [1, 2]: expected {"},
    {"EmptyHeader", File(1, "", ""), {}, "dictionary = the end"},
    {"Unclosed", File(1, "{'descr': '<f4'", ""), {}, "dictionary = the end: expected , or }"},
    {"OpenString", File(1, "{'descr", ""), {}, "expected 'key': value"},
    {"Trailing",
     File(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", ""),
     {},
     "dictionary = x: expected nothing after }"},
    {"NoShape",
     File(1, "{'descr': '<f4', 'fortran_order': False}", kOneAndHalf),
     {},
     "key = missing"},
    {"UnknownKey", File(1, "{'x': 1}", ""), {}, "key = 'x': expected descr"},
    {"KeyTwice", File(1, "{'descr': '<f4', 'descr': '<f8'}", ""), {}, "key = 'descr'"},
    {"Escape",
     File(1, R"({'descr': '<f\x34', 'fortran_order': False, 'shape': (2,)})", ""),
     {},
     "descr = "},
    {"FortranOne",
     File(1, "{'fortran_order': 1}", ""),
     {},
     "fortran_order = 1}: expected True or False"},
    {"ShapeNumber", Float32("(2)"), {}, "shape = (2), }"},
    {"ShapeList", Float32("[2]"), {}, "shape = [2]"},
    {"ShapeFloat", Float32("(2.0,)"), {}, "shape = (2.0,)"},
    {"ShapeNone", Float32("None"), {}, "shape = None"},
    {"ShapeTwoCommas", Float32("(2,,)"), {}, "shape = (2,,)"},
    {"ShapeNoComma", Float32("(2 1)"), {}, "shape = (2 1)"},
    {"ShapeOpen", File(1, "{'shape': (2, 3", ""), {}, "shape = (2, 3"},
    {"ShapeNegative", Float32("(-1,)"), {}, "shape[0] = -1"},
    {"ShapeBeyondInt64", Float32("(9223372036854775808,)"), {}, "shape = (9223372036854775808,)"},
    {"ShapeProductOverflows", Float32("(4294967296, 4294967296, 16)"), {}, "npy header: shape"},
    {"ShapeBytesOverflow", Float32("(9223372036854775807,)"), {}, "npy header: "},
    {"ShapeZeroHidesOverflow", Float32("(4294967296, 4294967296, 0)"), {}, "npy header: shape"},
    {"ShapeRank65",
     Float32("(" +
             [] {
               std::string ones;
               for (int i = 0; i < 65; ++i) ones += "1, ";
               return ones;
             }() +
             ")"),
     {},
     "npy header: rank 65"},
    {"Short", Float32("(3,)"), {}, "data = 8 bytes: expected 12"},
    {"Huge", Float32("(1000000000000,)"), {}, "data = 8 bytes: expected 4000000000000"},
    {"Long", Float32("(1,)"), {}, "data = 8 bytes: expected 4"},
    {"LongWithoutElements", Float32("(0,)"), {}, "data = 8 bytes: expected 0"},
    {"Objects",
     File(1, Header("|O", "False", "(1,)"), kOneAndHalf),
     {},
     "descr = '|O': expected f2"},
    {"Integers",
     File(1, Header("<i4", "False", "(2,)"), kOneAndHalf),
     {},
     "descr = '<i4': expected f2"},
    {"Quad", File(1, Header("<f16", "False", "(1,)"), ""), {}, "descr = '<f16'"},
    {"EmptyDescr", File(1, Header("", "False", "(1,)"), ""), {}, "descr = ''"},
    {"Structured",
     File(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", ""),
     {},
     "descr = [('a', '<f4')]"},
    {"VoidNotStated",
     File(1, Header("|V2", "False", "(2,)"), Hex("803f 0040")),
     {},
     "descr = '|V2': expected a type; if the two bytes are bfloat16, say --dtype bfloat16"},
    {"VoidStatedFloat16", File(1, Header("|V2", "False", "(2,)"), Hex("803f 0040")),
     DType::kFloat16, "descr = '|V2': expected float16"},
    {"BigEndianVoid", File(1, Header(">V2", "False", "(2,)"), Hex("3f80 4000")), DType::kBFloat16,
     "descr = '>V2'"},
    {"StatedOtherwise", Float32("(2,)"), DType::kFloat16, "descr = '<f4': expected float16"},
};

class NpyBad : public testing::TestWithParam<BadCase> {};

TEST_P(NpyBad, IsRefusedByField) {
  const absl::StatusOr<TensorInput> input = Read(GetParam().file, GetParam().stated);
  ASSERT_FALSE(input.ok());
  EXPECT_EQ(input.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(input.status().message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Npy, NpyBad, testing::ValuesIn(kBadCases),
                         [](const auto& info) { return info.param.name; });

TEST(Npy, EveryCutOfAFileIsRefused) {
  const std::string file = Float32("(2,)");
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_FALSE(Read(file.substr(0, length)).ok()) << length;
  }
}

TEST(Npy, EveryByteMayBeAnything) {
  const std::string file = Float32("(2,)");
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (int value = 0; value < 256; value += 5) {
      std::string changed = file;
      changed[at] = static_cast<char>(value);
      const absl::StatusOr<TensorInput> input = Read(changed);
      if (input.ok()) {
        EXPECT_TRUE(ReadAll(input->source, input->spec.bytes(), 64).ok());
      }
    }
  }
}

}  // namespace
}  // namespace trelu::command
