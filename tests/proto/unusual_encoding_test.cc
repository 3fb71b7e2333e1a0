// Encodings that protobuf accepts, or refuses, although no encoder writes them: the codec does the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "tests/proto/agreement.h"
#include "tests/proto/message_bytes.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Fields as an encoder writes them.
std::string Dims(std::initializer_list<std::int64_t> dims) {
  std::string packed;
  for (std::int64_t dim : dims) packed += Varint(static_cast<std::uint64_t>(dim));
  return packed;
}
std::string Spec(std::uint64_t dtype, std::initializer_list<std::int64_t> dims) {
  return VarintField(1, dtype) + BytesField(2, Dims(dims));
}
std::string Tensor(std::uint64_t dtype, std::initializer_list<std::int64_t> dims) {
  return BytesField(1, Spec(dtype, dims));
}
std::string Alpha(float alpha) { return FloatField(2, alpha); }
std::string Data(std::string_view bytes) { return BytesField(15, bytes); }
std::string Groups(std::size_t depth) {
  std::string bytes;
  for (std::size_t i = 0; i < depth; ++i) bytes += Tag(9, kGroup);
  for (std::size_t i = 0; i < depth; ++i) bytes += Tag(9, kEndGroup);
  return bytes;
}
std::string Repeat(std::size_t times, std::string_view bytes) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

const std::string kTensor = Tensor(1, {2, 3});
const std::string kAlpha = Alpha(0.5F);
const std::string kData = Data("a payload of more than twenty-three bytes, which lies on the heap");
const std::string kUsual = kTensor + kAlpha + kData;

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
    {"TensorAlone", kTensor},
    {"DataAlone", kData},
    {"AlphaAlone", kAlpha},
    {"EmptyTensor", Tag(1, kBytes) + Varint(0) + kData},
    {"Scalar", BytesField(1, VarintField(1, 11)) + kData},
    {"ShapeWithoutDtype", BytesField(1, BytesField(2, Dims({4}))) + kData},
    {"EmptyPackedShape", BytesField(1, VarintField(1, 1) + BytesField(2, "")) + kData},
    {"ExplicitZeroDtype", Tensor(0, {1}) + kData},
    {"ExplicitEmptyData", kTensor + Data("")},
    {"LongHeader", BytesField(1, Spec(1, {}) + BytesField(2, Repeat(1000, Varint(1)))) + kData},
    {"AlphaNaN", kTensor + Alpha(std::numeric_limits<float>::quiet_NaN()) + kData},
    {"AlphaInfinity", kTensor + Alpha(-kInfinity) + kData},
    {"AlphaNegativeZero", kTensor + Alpha(-0.0F) + kData},
    // Open enum, sizes of any sign.
    {"UnknownDtype", Tensor(999, {1}) + kData},
    {"NegativeDtype", BytesField(1, VarintField(1, static_cast<std::uint64_t>(-1)))},
    {"SmallestDtype", BytesField(1, VarintField(1, 0xffffffff80000000))},
    {"DtypeOfUnsigned32", BytesField(1, VarintField(1, 0xffffffff))},
    {"DtypeBeyond32Bits", BytesField(1, VarintField(1, 0x100000001))},
    {"DtypeOverlong", BytesField(1, Tag(1, kVarint) + Varint(1, 5))},
    {"DtypeOf11Bytes", BytesField(1, Tag(1, kVarint) + Varint(1, 11)), false},
    {"DtypeTenthByteTooBig", BytesField(1, "\x08" + std::string(9, '\xff') + "\x7f")},
    {"NegativeSizes", Tensor(1, {-1, std::numeric_limits<std::int64_t>::min()})},
    {"LargestSizes", Tensor(1, {std::numeric_limits<std::int64_t>::max(), 1LL << 32})},
    {"SizeOverlong", BytesField(1, BytesField(2, Varint(7, 10)))},
    {"SizeOf11Bytes", BytesField(1, BytesField(2, Varint(7, 11))), false},
    {"PackedShapeCutInsideASize", BytesField(1, BytesField(2, "\x80")), false},
    // Packed and not (F-08).
    {"UnpackedShape",
     BytesField(1, VarintField(1, 1) + VarintField(2, 2) + VarintField(2, 3)) + kData},
    {"MixedShape", BytesField(1, Spec(1, {2}) + VarintField(2, 3) + BytesField(2, Dims({4, 5})))},
    {"ShapeBeforeDtype", BytesField(1, BytesField(2, Dims({2})) + VarintField(1, 1))},
    {"DtypeTwice", BytesField(1, VarintField(1, 1) + VarintField(1, 11))},
    // Repeated singular fields: tensors merge, the last alpha and data win.
    {"TensorTwice", kTensor + Tensor(11, {7}) + kData},
    {"TensorTwiceFirstDtypeStays", kTensor + BytesField(1, BytesField(2, Dims({9}))) + kData},
    {"TensorSplitByData", kTensor + kData + Tensor(10, {1})},
    {"AlphaTwice", kTensor + kAlpha + Alpha(2.0F) + kData},
    {"DataTwice", kTensor + Data("first, and long enough to be on the heap") + kData},
    {"DataThenEmptyData", kTensor + kData + Data("")},
    // Order.
    {"AlphaFirst", kAlpha + kTensor + kData},
    {"DataFirst", kData + kTensor + kAlpha},
    {"DataBeforeAlpha", kTensor + kData + kAlpha},
    {"SmallDataFirst", Data("tiny") + kTensor},
    // Unknown fields (F-01) and known ones of another type (F-05).
    {"UnknownVarint", VarintField(7, 1) + kUsual},
    {"UnknownBytesAtEnd", kUsual + BytesField(100, "later")},
    {"UnknownFixed64", Tag(8, kFixed64) + "12345678" + kUsual},
    {"UnknownFixed32", Tag(8, kFixed32) + "1234" + kUsual},
    {"UnknownInTensor", BytesField(1, Spec(1, {2}) + BytesField(3, "later")) + kData},
    {"LargestFieldNumber", VarintField(0x1fffffff, 1) + kUsual},
    {"FieldNumberZero", VarintField(0, 1) + kUsual, false},
    {"TensorAsVarint", VarintField(1, 1) + kAlpha + kData},
    {"AlphaAsFixed64", kTensor + Tag(2, kFixed64) + "12345678" + kData},
    {"AlphaAsVarint", kTensor + VarintField(2, 1) + kData},
    {"DataAsVarint", kTensor + VarintField(15, 1)},
    {"DtypeAsBytes", BytesField(1, BytesField(1, "x"))},
    {"ShapeAsFixed64", BytesField(1, Tag(2, kFixed64) + "12345678")},
    {"WireType6", kTensor + std::string("\x16") + kData, false},
    {"WireType7", kTensor + std::string("\x17") + kData, false},
    // Groups (F-04).
    {"Group", kTensor + Tag(9, kGroup) + VarintField(1, 1) + Tag(9, kEndGroup) + kData},
    {"GroupsNested99", Groups(99) + kUsual},
    {"GroupsNested100", Groups(100) + kUsual},
    {"GroupsNested101", Groups(101) + kUsual, false},
    {"GroupsNested100000", Groups(100000) + kUsual, false},
    {"GroupNotEnded", kUsual + Tag(9, kGroup), false},
    {"GroupEndedByAnother", Tag(9, kGroup) + Tag(8, kEndGroup) + kUsual, false},
    {"EndGroupAlone", kTensor + Tag(9, kEndGroup), false},
    {"TensorAsGroup", Tag(1, kGroup) + Spec(1, {2}) + Tag(1, kEndGroup) + kData},
    {"GroupInTensor", BytesField(1, Spec(1, {2}) + Groups(98)) + kData},
    // Overlong tags and lengths.
    {"TagOverlong", Varint(1 << 3 | kBytes, 2) + Varint(0) + kData},
    {"TagOf5Bytes", Varint(15 << 3 | kBytes, 5) + Varint(1) + "x"},
    {"TagOf6Bytes", Varint(15 << 3 | kBytes, 6) + Varint(1) + "x", false},
    {"TagBeyond32Bits", Varint(1ULL << 32 | 0x7a) + Varint(1) + "x"},
    {"LengthOverlong", kTensor + Tag(15, kBytes) + Varint(3, 5) + "abc"},
    {"LengthOf6Bytes", kTensor + Tag(15, kBytes) + Varint(3, 6) + "abc", false},
    {"TensorLengthOverlong", Tag(1, kBytes) + Varint(2, 2) + VarintField(1, 1) + kData},
    // Lengths that lie (F-12).
    {"DataLongerThanMessage", kTensor + Tag(15, kBytes) + Varint(4) + "abc", false},
    {"DataShorterThanMessage", kTensor + Tag(15, kBytes) + Varint(2) + "abc", false},
    {"DataOf2GiB", kTensor + Tag(15, kBytes) + Varint(1ULL << 31) + "abc", false},
    {"DataOfMinusOne", kTensor + Tag(15, kBytes) + Varint(~0ULL) + "abc", false},
    {"DataOf4GiBMore", kTensor + Tag(15, kBytes) + Varint((1ULL << 32) + 3) + "abc", false},
    {"TensorLongerThanMessage", Tag(1, kBytes) + Varint(50) + Spec(1, {2}), false},
    {"ShapeLongerThanTensor", BytesField(1, Tag(2, kBytes) + Varint(3) + "\x01") + kData, false},
    {"ShapeReachesPastTensor", BytesField(1, Tag(2, kBytes) + Varint(5) + "\x01\x01") + kData,
     false},
    // Broken off.
    {"TagAlone", kTensor + Tag(15, kBytes), false},
    {"HalfAlpha", kTensor + kAlpha.substr(0, 3), false},
    {"ZeroByte", std::string(1, '\0'), false},
    {"ZeroByteAtEnd", kUsual + std::string(1, '\0'), false},
    {"AllOnes", std::string(64, '\xff'), false},
};

class UnusualEncodingTest : public ::testing::TestWithParam<Row> {};

TEST_P(UnusualEncodingTest, IsWhatProtobufSays) {
  const std::string& bytes = GetParam().bytes;
  EXPECT_EQ(v1::ApplyRequest().ParseFromString(bytes), GetParam().valid);
  EXPECT_EQ(RequestDisagreement(bytes, Cut(bytes)), "");
  EXPECT_EQ(ResponseDisagreement(bytes, Cut(bytes)), "");
}

TEST_P(UnusualEncodingTest, IsTheSameInSlicesOfOneByte) {
  const std::string& bytes = GetParam().bytes;
  EXPECT_EQ(RequestDisagreement(bytes, CutEverywhere(bytes)), "");
  EXPECT_EQ(ResponseDisagreement(bytes, CutEverywhere(bytes)), "");
}

TEST_P(UnusualEncodingTest, IsTheSameHoweverItIsCut) {
  const std::string& bytes = GetParam().bytes;
  const std::size_t end = std::min<std::size_t>(bytes.size(), 120);
  for (std::size_t first = 0; first <= end; ++first) {
    for (std::size_t second = first; second <= end; ++second) {
      const std::array cuts = {first, second};
      ASSERT_EQ(RequestDisagreement(bytes, Cut(bytes, cuts)), "") << first << " " << second;
    }
  }
}

// F-02.
TEST_P(UnusualEncodingTest, IsTheSameBrokenOffAnywhere) {
  const std::string& bytes = GetParam().bytes;
  const std::size_t end = std::min<std::size_t>(bytes.size(), 1200);
  for (std::size_t size = 0; size < end; ++size) {
    const std::string broken = bytes.substr(0, size);
    const std::array cuts = {size / 2};
    ASSERT_EQ(RequestDisagreement(broken, Cut(broken)), "") << size;
    ASSERT_EQ(RequestDisagreement(broken, Cut(broken, cuts)), "") << size;
    ASSERT_EQ(ResponseDisagreement(broken, Cut(broken)), "") << size;
  }
}

// Around the length where the codec stops reading headers by hand.
TEST(LongHeaderTest, IsWhatProtobufSays) {
  for (std::size_t sizes = 1000; sizes < 1040; ++sizes) {
    const std::string bytes = BytesField(1, BytesField(2, Repeat(sizes, Varint(1)))) + kData;
    const std::array<std::size_t, 2> cuts = {2, 1020};
    EXPECT_EQ(RequestDisagreement(bytes, Cut(bytes)), "") << sizes;
    EXPECT_EQ(RequestDisagreement(bytes, Cut(bytes, cuts)), "") << sizes;
    EXPECT_EQ(RequestDisagreement(bytes, CutEverywhere(bytes)), "") << sizes;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, UnusualEncodingTest, ::testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace trelu::testing
