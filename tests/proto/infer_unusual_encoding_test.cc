// Encodings of infer messages that protobuf accepts, or refuses, although no encoder writes them:
// the codec does the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "inference/open_inference.pb.h"
#include "tests/proto/infer_agreement.h"
#include "tests/proto/message_bytes.h"

namespace trelu::testing {
namespace {

// Fields of a request, by their numbers.
std::string Model(std::string_view name) { return BytesField(1, name); }
std::string Input(std::string_view fields) { return BytesField(5, fields); }
std::string Output(std::string_view name) { return BytesField(6, BytesField(1, name)); }
std::string Raw(std::string_view bytes) { return BytesField(7, bytes); }
// Of an input.
std::string Contents(std::string_view fields) { return BytesField(5, fields); }
// Of contents.
std::string Fp32(std::initializer_list<float> values) {
  std::string packed;
  for (float value : values) packed += Fixed32(value);
  return BytesField(6, packed);
}
std::string Fp64(std::initializer_list<double> values) {
  std::string packed;
  for (double value : values) packed += Fixed64(value);
  return BytesField(7, packed);
}
std::string Fp32Element(float value) { return FloatField(6, value); }
std::string Fp64Element(double value) { return Tag(7, kFixed64) + Fixed64(value); }
std::string Typed(std::string_view fields) { return Input(BytesField(1, "X") + Contents(fields)); }

std::string Groups(std::size_t depth) {
  std::string bytes;
  for (std::size_t i = 0; i < depth; ++i) bytes += Tag(9, kGroup);
  for (std::size_t i = 0; i < depth; ++i) bytes += Tag(9, kEndGroup);
  return bytes;
}
std::string InGroup(std::uint32_t field, std::string_view fields) {
  return Tag(field, kGroup) + std::string(fields) + Tag(field, kEndGroup);
}
std::string Parameter(std::string_view key, std::string_view value) {
  return BytesField(4, BytesField(1, key) + BytesField(2, value));
}

const std::string kInput =
    Input(BytesField(1, "X") + BytesField(2, "FP32") + BytesField(3, Varint(4)));
const std::string kUsual =
    Model("model") + BytesField(3, "an id") + kInput + Output("Y") + Raw("sixteen bytes...");
const std::string kLongRaw = Raw("an entry of more than twenty-three bytes, which is referred to");

struct Row {
  const char* name;
  std::string bytes;
  bool valid = true;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

const std::vector<Row> kRows = {
    // The usual.
    {"Empty", ""},
    {"Usual", kUsual},
    {"RawAlone", kLongRaw},
    {"EmptyRawEntries", kInput + kInput + Raw("") + Raw("")},
    {"SeveralRawEntries", kUsual + kLongRaw + Raw("") + kLongRaw},
    {"TypedFp32", Model("model") + Typed(Fp32({1, 2, 3}))},
    {"TypedFp64", Model("model") + Typed(Fp64({1, 2}))},
    {"EmptyInput", Input("")},
    {"EmptyContents", Input(Contents(""))},
    // Order and repetition.
    {"RawFirst", kLongRaw + kUsual},
    {"RawBetweenInputs", kInput + kLongRaw + kInput + Raw("x") + Model("model")},
    {"ModelNameTwice", Model("first") + kUsual},
    {"ParametersTwice", Parameter("a", VarintField(1, 1)) + Parameter("a", VarintField(2, 7))},
    {"OneofTwice", Parameter("a", VarintField(1, 1) + VarintField(2, 7) + BytesField(3, "x"))},
    {"ParameterWithoutValue", BytesField(4, BytesField(1, "a"))},
    {"ParameterWithoutKey", BytesField(4, "")},
    {"ParameterBackwards", BytesField(4, BytesField(2, VarintField(1, 1)) + BytesField(1, "a"))},
    // Typed contents, packed, not packed, in pieces (F-08).
    {"Unpacked", Typed(Fp32Element(1) + Fp32Element(2) + Fp64Element(3) + Fp64Element(4))},
    {"PackedAndNot", Typed(Fp32({1, 2}) + Fp32Element(3) + Fp32({4}) + Fp32({}))},
    {"BothTypesMixed", Typed(Fp32Element(1) + Fp64({2}) + Fp32({3}) + Fp64Element(4))},
    {"ContentsTwice", Input(Contents(Fp32({1})) + BytesField(1, "X") + Contents(Fp32({2})))},
    {"ContentsTwiceOtherTypes",
     Input(Contents(Fp32({1}) + VarintField(2, 7)) + Contents(Fp64({2})))},
    {"TypedOfSeveralInputs", Typed(Fp32({1})) + kInput + Typed(Fp64({2})) + Typed(Fp32({3}))},
    {"TypedAndRaw", Typed(Fp32({1})) + kLongRaw},
    {"OtherTypes", Typed(VarintField(1, 1) + BytesField(2, Varint(300)) + Fp32({1}) +
                         BytesField(4, Varint(1)) + BytesField(8, "bytes"))},
    {"NotANumber", Typed(BytesField(6, std::string_view("\xff\xff\xff\xff\x01\x00\x80\x7f", 8)))},
    {"UnknownInContents", Typed(BytesField(9, "later") + Fp32({1}) + VarintField(10, 1))},
    {"Fp32OfThreeBytes", Typed(BytesField(6, "abc")), false},
    {"Fp32OfFiveBytes", Typed(BytesField(6, "abcde")), false},
    {"Fp64OfFourBytes", Typed(BytesField(7, "abcd")), false},
    {"Fp64OfTwelveBytes", Typed(BytesField(7, "abcdefghijkl")), false},
    {"Fp32AsFixed64", Typed(Tag(6, kFixed64) + "12345678")},
    {"Fp64AsFixed32", Typed(Tag(7, kFixed32) + "1234")},
    {"Fp32AsVarint", Typed(VarintField(6, 1))},
    {"ContentsInGroup", Input(InGroup(5, Fp32({1})))},
    {"Fp32InGroup", Typed(InGroup(6, Fp32({1})))},
    // Known fields of another wire type, and unknown ones (F-01, F-05).
    {"RawAsVarint", VarintField(7, 1) + kUsual},
    {"RawAsGroup", InGroup(7, Raw("x")) + kUsual},
    {"RawInUnknownGroup", InGroup(9, kLongRaw) + kUsual},
    {"RawInGroupBehindAGroup", InGroup(9, InGroup(8, "") + kLongRaw) + kUsual},
    {"TypedInGroupBehindAGroup", InGroup(9, InGroup(8, "") + Typed(Fp32({1}))) + kUsual},
    {"InputInUnknownGroup", InGroup(9, Typed(Fp32({1}))) + kUsual},
    {"InputAsVarint", VarintField(5, 1) + kUsual},
    {"InputAsGroup", InGroup(5, Contents(Fp32({1}))) + kUsual},
    {"ContentsAsVarint", Input(VarintField(5, 1))},
    {"UnknownVarint", VarintField(100, 1) + kUsual},
    {"UnknownBytes", kUsual + BytesField(100, "later")},
    {"UnknownFixed64", Tag(8, kFixed64) + "12345678" + kUsual},
    {"UnknownFixed32", Tag(8, kFixed32) + "1234" + kUsual},
    {"UnknownInInput", Input(BytesField(9, "later") + BytesField(1, "X")) + kUsual},
    {"UnknownInOutput", BytesField(6, BytesField(9, "later")) + kUsual},
    {"LargestFieldNumber", VarintField(0x1fffffff, 1) + kUsual},
    {"FieldNumberZero", VarintField(0, 1) + kUsual, false},
    {"FieldNumberZeroInInput", Input(BytesField(0, "x")) + kUsual, false},
    {"FieldNumberZeroInGroup", InGroup(9, VarintField(0, 1)) + kUsual, false},
    {"WireType6", kUsual + Varint(7 << 3 | 6), false},
    {"WireType7", kUsual + Varint(7 << 3 | 7), false},
    {"WireType7InContents", Typed(Varint(6 << 3 | 7)), false},
    // UTF-8 (F-13).
    {"ModelNameNotUtf8", Model("\xff") + kLongRaw, false},
    {"InputNameNotUtf8", Input(BytesField(1, "\xc0\x80")), false},
    {"ParameterKeyNotUtf8", Parameter("\xff", VarintField(1, 1)), false},
    {"RawNotUtf8", kUsual + Raw("\xff\xfe")},
    // Groups (F-04).
    {"GroupsNested99", Groups(99) + kUsual},
    {"GroupsNested100", Groups(100) + kUsual},
    {"GroupsNested101", Groups(101) + kUsual, false},
    {"GroupsNestedInContents98", Typed(Groups(98))},
    {"GroupsNestedInContents99", Typed(Groups(99)), false},
    {"GroupNotEnded", kUsual + Tag(9, kGroup), false},
    {"GroupNotEndedInInput", Input(Tag(9, kGroup)) + Tag(9, kEndGroup), false},
    {"GroupEndedByAnother", Tag(9, kGroup) + Tag(8, kEndGroup) + kUsual, false},
    {"EndGroupAlone", kUsual + Tag(9, kEndGroup), false},
    {"EndGroupAloneInInput", Input(Tag(9, kEndGroup)) + kUsual, false},
    {"EndGroupAloneInContents", Typed(Tag(5, kEndGroup)), false},
    // Overlong tags and lengths.
    {"RawTagOf5Bytes", Varint(7 << 3 | kBytes, 5) + Varint(3) + "abc"},
    {"RawTagOf6Bytes", Varint(7 << 3 | kBytes, 6) + Varint(3) + "abc", false},
    {"RawTagBeyond32Bits", Varint(1ULL << 32 | (7 << 3 | kBytes)) + Varint(3) + "abc"},
    {"TagZeroBeyond32Bits", Varint(1ULL << 32) + Varint(3) + kUsual, false},
    {"RawLengthOverlong", Tag(7, kBytes) + Varint(3, 5) + "abc"},
    {"RawLengthOf6Bytes", Tag(7, kBytes) + Varint(3, 6) + "abc", false},
    {"InputOverlong", Varint(5 << 3 | kBytes, 3) + Varint(3, 4) + BytesField(1, "X")},
    {"ContentsOverlong", Input(Varint(5 << 3 | kBytes, 5) + Varint(6, 5) + Fp32({1}))},
    {"Fp32Overlong", Typed(Varint(6 << 3 | kBytes, 5) + Varint(4, 5) + Fixed32(1))},
    {"VarintOf10Bytes", Tag(9, kVarint) + Varint(7, 10) + kUsual},
    {"VarintOf11Bytes", Tag(9, kVarint) + Varint(7, 11) + kUsual, false},
    // Lengths that lie (F-12).
    {"RawLongerThanMessage", kUsual + Tag(7, kBytes) + Varint(4) + "abc", false},
    {"RawShorterThanMessage", kUsual + Tag(7, kBytes) + Varint(2) + "abc", false},
    {"RawOf2GiB", kUsual + Tag(7, kBytes) + Varint(1ULL << 31) + "abc", false},
    {"RawOfMinusOne", kUsual + Tag(7, kBytes) + Varint(~0ULL) + "abc", false},
    {"RawOf4GiBMore", kUsual + Tag(7, kBytes) + Varint((1ULL << 32) + 3) + "abc", false},
    {"InputLongerThanMessage", Tag(5, kBytes) + Varint(9) + BytesField(1, "X"), false},
    {"ContentsLongerThanInput", Input(Tag(5, kBytes) + Varint(9) + Fp32({1})) + kUsual, false},
    {"Fp32LongerThanContents", Typed(Tag(6, kBytes) + Varint(8) + Fixed32(1)) + kUsual, false},
    {"ElementLongerThanContents", Typed(Tag(6, kFixed32) + "12") + kUsual, false},
    {"NameLongerThanInput", Input(Tag(1, kBytes) + Varint(5) + "X") + kUsual, false},
    {"VarintReachesPastInput", Input("\x18\x80") + kUsual, false},
    {"TagReachesPastInput", Input("\x9a") + kUsual, false},
    // Broken off.
    {"RawTagAlone", kUsual + Tag(7, kBytes), false},
    {"ZeroByte", std::string(1, '\0'), false},
    {"ZeroByteAtEnd", kUsual + std::string(1, '\0'), false},
    {"ZeroByteInContents", Typed(std::string(1, '\0')), false},
    {"AllOnes", std::string(64, '\xff'), false},
};

class InferUnusualEncodingTest : public ::testing::TestWithParam<Row> {};

TEST_P(InferUnusualEncodingTest, IsWhatProtobufSays) {
  const std::string& bytes = GetParam().bytes;
  EXPECT_EQ(InferRequestDisagreement(bytes, Cut(bytes)), "");
  EXPECT_EQ(InferResponseDisagreement(bytes, Cut(bytes)), "");
  EXPECT_EQ(inference::ModelInferRequest().ParseFromString(bytes), GetParam().valid);
}

TEST_P(InferUnusualEncodingTest, IsTheSameInSlicesOfOneByte) {
  const std::string& bytes = GetParam().bytes;
  EXPECT_EQ(InferRequestDisagreement(bytes, CutEverywhere(bytes)), "");
  EXPECT_EQ(InferResponseDisagreement(bytes, CutEverywhere(bytes)), "");
}

TEST_P(InferUnusualEncodingTest, IsTheSameHoweverItIsCut) {
  const std::string& bytes = GetParam().bytes;
  const std::size_t end = std::min<std::size_t>(bytes.size(), 70);
  for (std::size_t first = 0; first <= end; ++first) {
    for (std::size_t second = first; second <= end; ++second) {
      const std::array cuts = {first, second};
      ASSERT_EQ(InferRequestDisagreement(bytes, Cut(bytes, cuts)), "") << first << " " << second;
    }
  }
}

// F-02.
TEST_P(InferUnusualEncodingTest, IsTheSameBrokenOffAnywhere) {
  const std::string& bytes = GetParam().bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string broken = bytes.substr(0, size);
    const std::array cuts = {size / 2};
    ASSERT_EQ(InferRequestDisagreement(broken, Cut(broken)), "") << size;
    ASSERT_EQ(InferRequestDisagreement(broken, Cut(broken, cuts)), "") << size;
    ASSERT_EQ(InferResponseDisagreement(broken, Cut(broken)), "") << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, InferUnusualEncodingTest, ::testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace trelu::testing
