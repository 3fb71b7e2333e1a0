// What decoding allocates beside gRPC's slices: nothing for the usual message, within bounds for
// a hostile one.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/apply_codec.h"
#include "tests/proto/counted_memory.h"
#include "tests/proto/message_bytes.h"

namespace trelu {
namespace {

using testing::BytesField;
using testing::CountedMemory;
using testing::Cut;
using testing::kBytes;
using testing::kEndGroup;
using testing::kFixed64;
using testing::kGroup;
using testing::Tag;
using testing::Varint;
using testing::VarintField;

constexpr std::size_t kMessageBytes = std::size_t{4} << 20;
// What the codec promises (DecodeApplyRequest).
constexpr std::size_t kMostFixedBytes = std::size_t{64} << 20;
constexpr std::size_t kMostRestBytes = std::size_t{2} << 20;

struct Row {
  const char* name;
  std::string bytes;
};

std::string Fill(std::string_view field, std::size_t bytes) {
  std::string all;
  all.reserve(bytes);
  while (all.size() + field.size() <= bytes) all += field;
  return all;
}

// As many objects as `bytes` bytes can name.
std::vector<Row> HostileRows(std::size_t bytes) {
  return {
      {"UnknownVarints", Fill(VarintField(3, 1), bytes)},
      {"UnknownEmptyBytes", Fill(BytesField(4, ""), bytes)},
      {"UnknownOneBigField", BytesField(4, std::string(bytes, 'x'))},
      {"UnknownFixed64", Fill(Tag(5, kFixed64) + "12345678", bytes)},
      {"UnknownEmptyGroups", Fill(Tag(6, kGroup) + Tag(6, kEndGroup), bytes)},
      {"UnknownInTensor", BytesField(1, Fill(BytesField(4, ""), bytes))},
      {"EmptyTensors", Fill(BytesField(1, ""), bytes)},
      {"PackedOnes", BytesField(1, BytesField(2, Fill(Varint(1), bytes)))},
      {"UnpackedOnes", BytesField(1, Fill(VarintField(2, 1), bytes))},
      {"PackedInManyPieces", BytesField(1, Fill(BytesField(2, Varint(1)), bytes))},
  };
}

std::vector<Row> UnusualData() {
  return {
      {"EmptyAgainAndAgain", Fill(BytesField(15, ""), kMessageBytes)},
      {"AgainAndAgain", Fill(BytesField(15, std::string(1000, 'x')), kMessageBytes)},
      {"First", BytesField(15, std::string(kMessageBytes - 8, 'x')) + BytesField(1, "")},
  };
}

// The most memory that decoding `row` takes.
std::size_t Peak(const Row& row, bool ok) {
  grpc::ByteBuffer message = Cut(row.bytes);
  const CountedMemory memory;
  EXPECT_EQ(DecodeApplyRequest(message).ok(), ok);
  return memory.peak_bytes();
}

// F-01 and its kind.
TEST(CodecMemoryTest, UnusualMessagesStayWithinBounds) {
  for (const Row& row : HostileRows(kMostRestBytes - 16)) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(Peak(row, true), kMostFixedBytes + 2 * row.bytes.size());
  }
  for (const Row& row : UnusualData()) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(Peak(row, true), 2 * row.bytes.size());
  }
}

TEST(CodecMemoryTest, TooMuchBesideDataIsRefusedBeforeItIsUnpacked) {
  for (const Row& row : HostileRows(kMessageBytes)) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(Peak(row, false), 3 * row.bytes.size());
  }
}

TEST(CodecMemoryTest, DeclaredSizesCostNothing) {
  const std::string huge = Tag(15, kBytes) + Varint(0x7fffffff - 16) + "x";
  grpc::ByteBuffer message = Cut(huge);
  const CountedMemory memory;
  EXPECT_FALSE(DecodeApplyRequest(message).ok());
  EXPECT_LT(memory.peak_bytes(), 4096);
}

TEST(CodecMemoryTest, UsualMessagesAllocateOneSlice) {
  const std::string usual = BytesField(1, VarintField(1, 1) + BytesField(2, Varint(16))) +
                            testing::FloatField(2, 0.5F) + BytesField(15, std::string(64, 'x'));
  grpc::ByteBuffer message = Cut(usual);
  const CountedMemory memory;
  absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(memory.allocations(), 0);
  const TensorSpec tensor = TensorSpec::Create(DType::kFloat32, decoded->tensor->shape).value();
  const grpc::ByteBuffer encoded = EncodeApplyResponse(&tensor, std::move(decoded->data));
  // The slice that leaves; under a sanitizer gRPC may allocate it elsewhere.
  EXPECT_LE(memory.allocations(), 1);
}

}  // namespace
}  // namespace trelu
