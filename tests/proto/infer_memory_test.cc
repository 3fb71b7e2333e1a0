// What decoding an infer message allocates beside gRPC's slices: within bounds for a hostile one.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/infer_codec.h"
#include "tests/proto/counted_memory.h"
#include "tests/proto/message_bytes.h"

namespace trelu {
namespace {

using testing::BytesField;
using testing::CountedMemory;
using testing::Cut;
using testing::FloatField;
using testing::kBytes;
using testing::kEndGroup;
using testing::kFixed64;
using testing::kGroup;
using testing::Tag;
using testing::Varint;
using testing::VarintField;

// What the codec promises (DecodeModelInferRequest).
constexpr std::size_t kMostFixedBytes = std::size_t{8} << 20;
constexpr std::size_t kMessageBytes = std::size_t{4} << 20;

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

// Entries of a map, each with another key.
std::string Parameters(std::size_t bytes) {
  std::string all;
  for (int i = 0; all.size() + 8 <= bytes; ++i) {
    const std::string key = {static_cast<char>(i & 127), static_cast<char>(i >> 7 & 127)};
    all += BytesField(4, BytesField(1, key));
  }
  return all;
}

std::string Input(std::string_view fields) { return BytesField(5, fields); }
std::string Contents(std::string_view fields) { return Input(BytesField(5, fields)); }

// As many objects as `bytes` bytes can name.
std::vector<Row> HostileRows(std::size_t bytes) {
  return {
      {"Outputs", Fill(BytesField(6, ""), bytes)},
      {"OutputsWithParameters", Fill(BytesField(6, BytesField(2, "")), bytes)},
      {"Parameters", Parameters(bytes)},
      {"ParametersOfAnInput", Input(Parameters(bytes))},
      {"UnknownVarints", Fill(VarintField(9, 1), bytes)},
      {"UnknownEmptyBytes", Fill(BytesField(9, ""), bytes)},
      {"UnknownOneBigField", BytesField(9, std::string(bytes, 'x'))},
      {"UnknownFixed64", Fill(Tag(9, kFixed64) + "12345678", bytes)},
      {"UnknownEmptyGroups", Fill(Tag(9, kGroup) + Tag(9, kEndGroup), bytes)},
      {"UnknownInContents", Contents(Fill(VarintField(9, 1), bytes))},
      {"PackedShape", Input(BytesField(3, std::string(bytes, '\1')))},
      {"UnpackedShape", Input(Fill(VarintField(3, 1), bytes))},
      {"PackedInt64", Contents(BytesField(3, std::string(bytes, '\1')))},
      {"EmptyBytesContents", Contents(Fill(BytesField(8, ""), bytes))},
  };
}

std::string Repeat(std::size_t times, std::string_view bytes) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

// Many elements, in ways that could cost more than their bytes.
std::vector<Row> ElementRows() {
  const std::string four_mixed = FloatField(6, 1) + Tag(7, kFixed64) + "12345678";
  const std::string small_and_large = FloatField(6, 1) + BytesField(6, std::string(256, 'x'));
  return {
      {"Raw", BytesField(7, std::string(kMessageBytes, 'x'))},
      {"RawEntries", Repeat(kMaxInferTensors, BytesField(7, std::string(4000, 'x')))},
      {"EmptyInputs", Repeat(kMaxInferTensors, Input(""))},
      {"EmptyContents", Repeat(kMaxInferTensors, Contents(""))},
      {"Packed", Contents(BytesField(6, std::string(kMessageBytes, 'x')))},
      {"Unpacked", Contents(Repeat(kMaxElementRuns, FloatField(6, 1)))},
      {"UnpackedOfBothTypes", Contents(Repeat(kMaxElementRuns / 2, four_mixed))},
      {"EmptyPieces", Contents(Repeat(kMaxElementRuns, BytesField(6, "")))},
      {"SmallPieces", Contents(Repeat(kMaxElementRuns, BytesField(6, "1234")))},
      {"SmallAndLargePieces", Contents(Fill(small_and_large, kMessageBytes))},
      {"LargestCopiedPieces", Contents(Fill(BytesField(6, std::string(252, 'x')), kMessageBytes))},
      {"UnpackedOfManyInputs", Repeat(kMaxInferTensors, Contents(Repeat(32, four_mixed)))},
      {"ContentsOfOneElement",
       Input(Fill(BytesField(5, FloatField(6, 1)), kMaxInferHeaderBytes * 7 / 4 - 100))},
  };
}

// The most memory that decoding `row` takes.
std::size_t Peak(const Row& row, bool ok) {
  grpc::ByteBuffer message = Cut(row.bytes);
  const CountedMemory memory;
  const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
  EXPECT_EQ(decoded.ok(), ok) << decoded.status();
  return memory.peak_bytes();
}

TEST(InferMemoryTest, HostileHeadersStayWithinBounds) {
  for (const Row& row : HostileRows(kMaxInferHeaderBytes - 16)) {
    SCOPED_TRACE(row.name);
    const std::size_t peak = Peak(row, true);
    RecordProperty(row.name, static_cast<int>(peak));
    EXPECT_LE(peak, kMostFixedBytes);
  }
}

TEST(InferMemoryTest, LongHeadersAreRefusedBeforeTheyAreUnpacked) {
  for (const Row& row : HostileRows(kMessageBytes)) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(Peak(row, false), 4 * kMaxInferHeaderBytes);
  }
}

TEST(InferMemoryTest, ElementsCostAtMostTwiceTheirBytes) {
  for (const Row& row : ElementRows()) {
    SCOPED_TRACE(row.name);
    const std::size_t peak = Peak(row, true);
    RecordProperty(row.name, static_cast<int>(peak));
    EXPECT_LE(peak, (std::size_t{1} << 20) + 2 * row.bytes.size());
  }
}

TEST(InferMemoryTest, DeclaredSizesCostNothing) {
  for (const Row& row : std::vector<Row>{
           {"Raw", Tag(7, kBytes) + Varint(0x7fffffff - 16) + "x"},
           {"Fp32", Input(Tag(5, kBytes) + Varint(1000000) + Tag(6, kBytes) + Varint(900000))},
           {"Name", Tag(1, kBytes) + Varint(60000) + "x"}}) {
    SCOPED_TRACE(row.name);
    EXPECT_LT(Peak(row, false), 4096);
  }
}

TEST(InferMemoryTest, AnswersAllocateOneSlice) {
  inference::ModelInferResponse header;
  header.set_model_name("thresholded_relu");
  header.add_outputs()->set_name("Y");
  Payload payload;
  payload.Append(grpc::Slice(std::string(64, 'x')));
  const CountedMemory memory;
  const grpc::ByteBuffer encoded = EncodeModelInferResponse(header, {&payload, 1});
  // The slice that leaves; under a sanitizer gRPC may allocate it elsewhere.
  EXPECT_LE(memory.allocations(), 1);
}

}  // namespace
}  // namespace trelu
