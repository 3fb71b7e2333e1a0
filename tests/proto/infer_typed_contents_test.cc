// Elements that came in fp32_contents and fp64_contents: as raw bytes, where they were received or,
// when they came in small pieces, copied once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/infer_codec.h"
#include "tests/proto/message_bytes.h"

namespace trelu {
namespace {

using testing::BytesField;
using testing::Cut;
using testing::Fixed32;
using testing::Fixed64;
using testing::FloatField;
using testing::Join;
using testing::kFixed64;
using testing::Refer;
using testing::Tag;

std::string Elements(std::size_t count, float first = 0) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += Fixed32(first + static_cast<float>(i));
  return bytes;
}

std::string Input(std::string_view contents) { return BytesField(5, BytesField(5, contents)); }

// What is not copied refers to `bytes`.
InferRequest Decode(const std::string& bytes, std::span<const std::size_t> cuts = {}) {
  grpc::ByteBuffer message = Refer(bytes, cuts);
  return DecodeModelInferRequest(message).value();
}

TEST(TypedContentsTest, ComeAsRawBytesOfTheirInput) {
  inference::ModelInferRequest request;
  request.add_inputs()->mutable_contents()->add_fp32_contents(1.5F);
  request.add_inputs();
  request.add_inputs()->mutable_contents()->add_fp64_contents(2.5);
  const InferRequest decoded = Decode(request.SerializeAsString());
  ASSERT_EQ(decoded.tensors.typed.size(), 3);
  EXPECT_EQ(Join(decoded.tensors.typed[0].fp32.slices()), Fixed32(1.5F));
  EXPECT_TRUE(decoded.tensors.typed[0].fp64.empty());
  EXPECT_TRUE(decoded.tensors.typed[1].fp32.empty());
  EXPECT_TRUE(decoded.tensors.typed[1].fp64.empty());
  EXPECT_EQ(Join(decoded.tensors.typed[2].fp64.slices()), Fixed64(2.5));
  EXPECT_TRUE(decoded.header.inputs(0).has_contents());
  EXPECT_EQ(decoded.header.inputs(0).contents().fp32_contents_size(), 0);
  EXPECT_FALSE(decoded.header.inputs(1).has_contents());
}

TEST(TypedContentsTest, StayWhereTheyAre) {
  const std::string bytes =
      BytesField(1, "model") + Input(BytesField(6, Elements(1000))) + "\x1a\x01i";
  const std::size_t end = bytes.size() - 3;
  for (const std::vector<std::size_t>& cuts :
       {std::vector<std::size_t>{}, {3}, {end - 2000}, {12, end - 3}, {end}}) {
    SCOPED_TRACE(::testing::PrintToString(cuts));
    const InferRequest decoded = Decode(bytes, cuts);
    EXPECT_EQ(decoded.header.id(), "i");
    const Payload& fp32 = decoded.tensors.typed[0].fp32;
    EXPECT_EQ(fp32.bytes(), 4000);
    const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data()) + end - 4000;
    for (const grpc::Slice& slice : fp32.slices()) {
      // gRPC keeps the smallest inside the slice object.
      if (slice.size() > 32) {
        EXPECT_EQ(slice.begin(), at);
      }
      at += slice.size();
    }
  }
}

TEST(TypedContentsTest, StayWhereTheyAreInSeveralLargePieces) {
  const std::string bytes =
      Input(BytesField(6, Elements(100)) + BytesField(6, Elements(64, 100))) + BytesField(7, "");
  const InferRequest decoded = Decode(bytes);
  const Payload& fp32 = decoded.tensors.typed[0].fp32;
  ASSERT_EQ(fp32.slices().size(), 2);
  for (const grpc::Slice& slice : fp32.slices()) {
    const auto* begin = reinterpret_cast<const char*>(slice.begin());
    EXPECT_TRUE(begin >= bytes.data() && begin < bytes.data() + bytes.size());
  }
  EXPECT_EQ(Join(fp32.slices()), Elements(164));
}

TEST(TypedContentsTest, BecomeOneSliceFromSmallPieces) {
  std::string unpacked;
  for (int i = 0; i < 1000; ++i) unpacked += FloatField(6, static_cast<float>(i));
  const InferRequest decoded = Decode(Input(unpacked));
  EXPECT_EQ(decoded.tensors.typed[0].fp32.slices().size(), 1);
  EXPECT_EQ(Join(decoded.tensors.typed[0].fp32.slices()), Elements(1000));
}

TEST(TypedContentsTest, AreJoinedInOrderFromPiecesOfEverySize) {
  std::string fp32;
  std::string fp64;
  std::string contents;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string piece = Elements(i * 7 % 130, static_cast<float>(i));
    contents += BytesField(6, piece) + FloatField(6, static_cast<float>(i));
    contents += Tag(7, kFixed64) + Fixed64(static_cast<double>(i));
    fp32 += piece + Fixed32(static_cast<float>(i));
    fp64 += Fixed64(static_cast<double>(i));
  }
  const std::string bytes = Input(contents);
  const InferRequest decoded = Decode(bytes);
  EXPECT_TRUE(Join(decoded.tensors.typed[0].fp32.slices()) == fp32);
  EXPECT_TRUE(Join(decoded.tensors.typed[0].fp64.slices()) == fp64);
}

// A block of copies is full in the middle of a piece.
TEST(TypedContentsTest, MayBeLargeInSmallPieces) {
  std::string contents;
  for (std::size_t i = 0; i < 3000; ++i) {
    contents += BytesField(6, Elements(25, static_cast<float>(i)));
  }
  std::string expected;
  for (std::size_t i = 0; i < 3000; ++i) expected += Elements(25, static_cast<float>(i));
  const InferRequest decoded = Decode(Input(contents));
  EXPECT_TRUE(Join(decoded.tensors.typed[0].fp32.slices()) == expected);
  EXPECT_LE(decoded.tensors.typed[0].fp32.slices().size(), 5);
}

TEST(TypedContentsTest, OfAResponseAreTakenOutToo) {
  inference::ModelInferResponse response;
  response.add_outputs()->mutable_contents()->add_fp32_contents(1.5F);
  grpc::ByteBuffer message = Cut(response.SerializeAsString());
  const absl::StatusOr<InferResponse> decoded = DecodeModelInferResponse(message);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(Join(decoded->tensors.typed[0].fp32.slices()), Fixed32(1.5F));
}

}  // namespace
}  // namespace trelu
