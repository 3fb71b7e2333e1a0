// What decoding makes of infer messages: which bytes go where, and what is refused.
#include "proto/infer_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/proto/message_bytes.h"

namespace trelu {
namespace {

using testing::BytesField;
using testing::Cut;
using testing::FloatField;
using ::testing::HasSubstr;
using testing::HugeMessage;
using testing::Join;
using testing::kEndGroup;
using testing::kGroup;
using testing::Refer;
using testing::Tag;
using testing::VarintField;

std::string Text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>('a' + i % 26));
  return text;
}

inference::ModelInferRequest Request(std::size_t raw_bytes) {
  inference::ModelInferRequest request;
  request.set_model_name("thresholded_relu");
  request.set_id("7");
  (*request.mutable_parameters())["alpha"].set_double_param(0.25);
  inference::ModelInferRequest::InferInputTensor& input = *request.add_inputs();
  input.set_name("X");
  input.set_datatype("FP32");
  input.add_shape(static_cast<std::int64_t>(raw_bytes / 4));
  request.add_outputs()->set_name("Y");
  request.add_raw_input_contents(Text(raw_bytes));
  return request;
}

TEST(InferDecodeTest, LeavesRawContentsWhereTheyAre) {
  const std::string bytes = Request(1000).SerializeAsString();
  const std::size_t header = bytes.size() - 1000;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::vector<std::vector<std::size_t>> rows = {
      {}, {2}, {header}, {header - 1, header}, {2, header + 100}, {header + 300, header + 600}};
  for (const std::vector<std::size_t>& cuts : rows) {
    SCOPED_TRACE(::testing::PrintToString(cuts));
    grpc::ByteBuffer message = Refer(bytes, cuts);
    const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
    ASSERT_TRUE(decoded.ok());
    ASSERT_EQ(decoded->tensors.raw.size(), 1);
    EXPECT_EQ(decoded->tensors.raw[0].bytes(), 1000);
    const std::uint8_t* at = begin + header;
    for (const grpc::Slice& slice : decoded->tensors.raw[0].slices()) {
      EXPECT_EQ(slice.begin(), at);
      at = slice.end();
    }
    EXPECT_EQ(at, begin + bytes.size());
  }
}

TEST(InferDecodeTest, HoldsOnlyTheSlicesOfElements) {
  bool header_freed = false;
  bool raw_freed = false;
  const auto set = [](void* flag) { *static_cast<bool*>(flag) = true; };
  std::string bytes = Request(1000).SerializeAsString();
  const std::size_t header = bytes.size() - 1000;
  grpc::ByteBuffer message;
  {
    const std::array slices = {grpc::Slice(bytes.data(), header, set, &header_freed),
                               grpc::Slice(bytes.data() + header, 1000, set, &raw_freed)};
    message = grpc::ByteBuffer(slices.data(), slices.size());
  }
  {
    const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
    ASSERT_TRUE(decoded.ok());
    EXPECT_FALSE(message.Valid());
    EXPECT_TRUE(header_freed);
    EXPECT_FALSE(raw_freed);
  }
  EXPECT_TRUE(raw_freed);
}

TEST(InferDecodeTest, ReadsEveryField) {
  grpc::ByteBuffer message = Cut(Request(100).SerializeAsString());
  const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
  ASSERT_TRUE(decoded.ok());
  inference::ModelInferRequest expected = Request(100);
  expected.clear_raw_input_contents();
  EXPECT_EQ(decoded->header.SerializeAsString(), expected.SerializeAsString());
  EXPECT_EQ(Join(decoded->tensors.raw[0].slices()), Text(100));
  ASSERT_EQ(decoded->tensors.typed.size(), 1);
  EXPECT_TRUE(decoded->tensors.typed[0].fp32.empty());
  EXPECT_TRUE(decoded->tensors.typed[0].fp64.empty());
}

TEST(InferDecodeTest, KeepsEmptyRawEntries) {
  grpc::ByteBuffer message = Cut(BytesField(7, "") + BytesField(7, "x") + BytesField(7, ""));
  const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->tensors.raw.size(), 3);
  EXPECT_EQ(decoded->tensors.raw[0].bytes(), 0);
  EXPECT_EQ(decoded->tensors.raw[1].bytes(), 1);
  EXPECT_EQ(decoded->tensors.raw[2].bytes(), 0);
}

TEST(InferDecodeTest, TakesABufferWithoutBytesAsAnEmptyMessage) {
  const std::array<grpc::Slice, 2> empty;
  for (grpc::ByteBuffer message :
       {grpc::ByteBuffer(), grpc::ByteBuffer(empty.data(), 0), grpc::ByteBuffer(empty.data(), 1),
        grpc::ByteBuffer(empty.data(), 2)}) {
    const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->header.ByteSizeLong(), 0);
    EXPECT_TRUE(decoded->tensors.raw.empty());
  }
}

TEST(InferDecodeTest, SaysWhatIsMalformed) {
  grpc::ByteBuffer request = Cut("\x0a\x05");
  EXPECT_EQ(
      DecodeModelInferRequest(request).status(),
      absl::InvalidArgumentError("malformed ModelInferRequest: not a valid protobuf message"));
  grpc::ByteBuffer response = Cut("\x0a\x05");
  EXPECT_EQ(
      DecodeModelInferResponse(response).status(),
      absl::InvalidArgumentError("malformed ModelInferResponse: not a valid protobuf message"));
}

std::string Repeat(std::size_t times, std::string_view bytes) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

struct LimitRow {
  const char* name;
  std::string most;      // is accepted
  std::string too_much;  // is refused
  std::string reason;
};
void PrintTo(const LimitRow& row, std::ostream* out) { *out << row.name; }

std::vector<LimitRow> LimitRows() {
  const std::size_t most = kMaxInferHeaderBytes;
  const std::string raw = BytesField(7, Text(100000));
  const std::string long_header =
      "ModelInferRequest with more than 65536 bytes besides its tensors";
  const std::string typed = BytesField(6, std::string(400000, 'x'));
  return {
      {"ModelName", raw + BytesField(1, Text(most - 4)) + raw,
       raw + BytesField(1, Text(most - 3)) + raw, long_header},
      {"Unknown", BytesField(9, Text(most - 4)), BytesField(9, Text(most * 50)), long_header},
      {"ManySmallFields", Repeat(most / 4, BytesField(9, "ab")),
       Repeat(most / 4 + 1, BytesField(9, "ab")), long_header},
      {"IntContents", BytesField(5, BytesField(5, BytesField(2, std::string(60000, '\1')))),
       BytesField(5, BytesField(5, BytesField(2, std::string(66000, '\1')))), long_header},
      {"ContentsBesideTyped", BytesField(5, BytesField(5, typed + BytesField(8, Text(65000)))),
       BytesField(5, BytesField(5, typed + BytesField(8, Text(65600)))), long_header},
      {"Outputs", Repeat(most / 2, BytesField(6, "")), Repeat(most / 2 + 1, BytesField(6, "")),
       long_header},
      {"EmptyContents", BytesField(5, Repeat(16000, BytesField(5, ""))),
       BytesField(5, Repeat(16400, BytesField(5, ""))), long_header},
      {"Inputs", Repeat(kMaxInferTensors, BytesField(5, "")),
       Repeat(kMaxInferTensors + 1, BytesField(5, "")), "inputs: more than 1024 entries"},
      {"ElementRuns", BytesField(5, BytesField(5, Repeat(kMaxElementRuns, FloatField(6, 1)))),
       BytesField(5, BytesField(5, Repeat(kMaxElementRuns, FloatField(6, 1)))) +
           BytesField(5, BytesField(5, BytesField(7, ""))),
       "inputs: contents in more than 65536 runs: send the elements packed, or raw"},
      {"Group", Tag(9, kGroup) + Repeat(most / 2 - 1, VarintField(9, 1)) + Tag(9, kEndGroup),
       // Not followed to its end, which is missing.
       Tag(9, kGroup) + Repeat(most, VarintField(9, 1)), long_header},
      {"RawEntries", Repeat(kMaxInferTensors, BytesField(7, "")),
       Repeat(kMaxInferTensors + 1, BytesField(7, "")),
       "raw_input_contents: more than 1024 entries"},
  };
}

class InferLimitTest : public ::testing::TestWithParam<LimitRow> {};

TEST_P(InferLimitTest, IsExact) {
  grpc::ByteBuffer most = Cut(GetParam().most);
  EXPECT_TRUE(DecodeModelInferRequest(most).ok());
  grpc::ByteBuffer too_much = Cut(GetParam().too_much);
  EXPECT_EQ(DecodeModelInferRequest(too_much).status(),
            absl::InvalidArgumentError(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(Rows, InferLimitTest, ::testing::ValuesIn(LimitRows()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(InferTooMuchTest, NamesTheResponsesFields) {
  grpc::ByteBuffer message = Cut(Repeat(kMaxInferTensors + 1, BytesField(6, "")));
  EXPECT_EQ(DecodeModelInferResponse(message).status(),
            absl::InvalidArgumentError("raw_output_contents: more than 1024 entries"));
}

TEST(InferTooMuchTest, TheLargestEntryIsProtobufs) {
  for (const std::size_t bytes : {kMaxFieldBytes, kMaxFieldBytes + 1}) {
    const std::string head = Tag(7, testing::kBytes) + testing::Varint(bytes);
    grpc::ByteBuffer message = HugeMessage(head, head.size() + bytes);
    const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
    ASSERT_EQ(decoded.ok(), bytes == kMaxFieldBytes);
    if (decoded.ok()) {
      EXPECT_EQ(decoded->tensors.raw[0].bytes(), bytes);
    }
  }
}

TEST(InferTooMuchTest, AMessageOf2GiBIsRefused) {
  grpc::ByteBuffer message = HugeMessage("", std::size_t{1} << 31);
  const absl::Status status = DecodeModelInferRequest(message).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("2147483648 bytes"));
}

}  // namespace
}  // namespace trelu
