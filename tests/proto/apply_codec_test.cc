#include "proto/apply_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/proto/message_bytes.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu {
namespace {

using testing::BytesField;
using testing::Cut;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HugeMessage;
using ::testing::IsEmpty;
using testing::Join;
using testing::Refer;

constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

std::string Text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>('a' + i % 26));
  return text;
}

TensorSpec Spec(DType dtype, const std::vector<std::int64_t>& dims) {
  return TensorSpec::Create(dtype, dims).value();
}

Payload PayloadOf(std::string_view bytes) {
  Payload payload;
  payload.Append(grpc::Slice(bytes.data(), bytes.size()));
  return payload;
}

v1::ApplyRequest Request(std::size_t data_bytes) {
  v1::ApplyRequest request;
  request.mutable_tensor()->set_dtype(v1::DATA_TYPE_FLOAT);
  request.mutable_tensor()->add_shape(static_cast<std::int64_t>(data_bytes));
  request.set_alpha(0.25F);
  request.set_data(Text(data_bytes));
  return request;
}

TEST(DecodeTest, LeavesThePayloadWhereItIs) {
  const v1::ApplyRequest request = Request(1000);
  const std::string bytes = request.SerializeAsString();
  const std::size_t header = bytes.size() - 1000;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::vector<std::vector<std::size_t>> rows = {
      {}, {2}, {header}, {header - 1, header}, {2, header + 100}, {header + 300, header + 600}};
  for (const std::vector<std::size_t>& cuts : rows) {
    SCOPED_TRACE(::testing::PrintToString(cuts));
    grpc::ByteBuffer message = Refer(bytes, cuts);
    const absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->data.bytes(), 1000);
    const std::uint8_t* at = begin + header;
    for (const grpc::Slice& slice : decoded->data.slices()) {
      EXPECT_EQ(slice.begin(), at);
      at = slice.end();
    }
    EXPECT_EQ(at, begin + bytes.size());
  }
}

TEST(DecodeTest, HoldsOnlyThePayloadsSlices) {
  bool header_freed = false;
  bool payload_freed = false;
  const auto set = [](void* flag) { *static_cast<bool*>(flag) = true; };
  std::string bytes = Request(1000).SerializeAsString();
  const std::size_t header = bytes.size() - 1000;
  grpc::ByteBuffer message;
  {
    const std::array slices = {grpc::Slice(bytes.data(), header, set, &header_freed),
                               grpc::Slice(bytes.data() + header, 1000, set, &payload_freed)};
    message = grpc::ByteBuffer(slices.data(), slices.size());
  }
  {
    const absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
    ASSERT_TRUE(decoded.ok());
    EXPECT_FALSE(message.Valid());
    EXPECT_TRUE(header_freed);
    EXPECT_FALSE(payload_freed);
  }
  EXPECT_TRUE(payload_freed);
}

TEST(DecodeTest, ReadsEveryField) {
  grpc::ByteBuffer message = Cut(Request(100).SerializeAsString());
  const absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
  ASSERT_TRUE(decoded.ok());
  ASSERT_TRUE(decoded->tensor.has_value());
  EXPECT_EQ(decoded->tensor->dtype, 1);
  EXPECT_THAT(decoded->tensor->shape, ElementsAre(100));
  EXPECT_EQ(decoded->alpha, 0.25F);
  EXPECT_EQ(Join(decoded->data.slices()), Text(100));
}

TEST(DecodeTest, FindsAlphaZeroPresent) {
  v1::ApplyRequest request;
  request.set_alpha(0.0F);
  grpc::ByteBuffer message = Cut(request.SerializeAsString());
  EXPECT_EQ(DecodeApplyRequest(message)->alpha, 0.0F);
}

TEST(DecodeTest, TakesABufferWithoutBytesAsAnEmptyMessage) {
  const std::array<grpc::Slice, 2> empty;
  for (grpc::ByteBuffer message :
       {grpc::ByteBuffer(), grpc::ByteBuffer(empty.data(), 0), grpc::ByteBuffer(empty.data(), 1),
        grpc::ByteBuffer(empty.data(), 2)}) {
    const absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
    ASSERT_TRUE(decoded.ok());
    EXPECT_FALSE(decoded->tensor || decoded->alpha);
    EXPECT_TRUE(decoded->data.empty());
  }
}

TEST(DecodeTest, KnowsNoAlphaInAResponse) {
  grpc::ByteBuffer message = Cut(Request(100).SerializeAsString());
  const absl::StatusOr<ApplyMessage> decoded = DecodeApplyResponse(message);
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->alpha.has_value());
  EXPECT_EQ(Join(decoded->data.slices()), Text(100));
}

TEST(DecodeTest, SaysWhatIsMalformed) {
  grpc::ByteBuffer request = Cut("\x0a\x05");
  EXPECT_EQ(DecodeApplyRequest(request).status(),
            absl::InvalidArgumentError("malformed ApplyRequest: not a valid protobuf message"));
  grpc::ByteBuffer response = Cut("\x0a\x05");
  EXPECT_EQ(DecodeApplyResponse(response).status(),
            absl::InvalidArgumentError("malformed ApplyResponse: not a valid protobuf message"));
}

TEST(DecodeTest, TakesTheLargestData) {
  const std::size_t data = 0x7fffffff - 16;
  const std::string header = testing::Tag(15, testing::kBytes) + testing::Varint(data);
  grpc::ByteBuffer message = HugeMessage(header, header.size() + data);
  const absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->data.bytes(), data);
}

TEST(DecodeTest, RefusesMoreThanProtobufTakes) {
  const std::size_t bytes = std::size_t{1} << 31;
  const std::string header = testing::Tag(15, testing::kBytes) + testing::Varint(bytes - 6);
  grpc::ByteBuffer message = HugeMessage(header, bytes);
  const absl::Status status = DecodeApplyRequest(message).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("2147483648 bytes: a protobuf message has at most 2147483647"));
}

struct EncodeRow {
  const char* name;
  std::optional<TensorSpec> tensor;
  std::optional<float> alpha;
  std::size_t data_bytes;
};

std::vector<EncodeRow> EncodeRows() {
  const std::vector<std::int64_t> ranks(kMaxRank, 1);
  std::vector<std::int64_t> widest = ranks;
  widest[0] = kMaxInt64 / 2;
  std::vector<std::int64_t> zeros = ranks;
  std::fill(zeros.begin(), zeros.end(), 0);
  return {
      {"Nothing", std::nullopt, std::nullopt, 0},
      {"DataAlone", std::nullopt, std::nullopt, 100},
      {"Scalar", Spec(DType::kFloat64, {}), std::nullopt, 8},
      {"NoElements", Spec(DType::kFloat16, {2, 0}), 1.0F, 0},
      {"BFloat16", Spec(DType::kBFloat16, {127, 128}), -0.0F, 32},
      {"NaN", Spec(DType::kFloat32, {1}), std::numeric_limits<float>::quiet_NaN(), 4},
      {"Zero", Spec(DType::kFloat32, {1}), 0.0F, 4},
      {"LargeSizes", Spec(DType::kFloat16, {1LL << 35, 1LL << 20}), 2.5F, 1},
      {"WidestSize", Spec(DType::kFloat16, widest), 1.0F, 7},
      {"ManySizes", Spec(DType::kFloat16, ranks), 1.0F, 7},
      {"ManyZeros", Spec(DType::kFloat16, zeros), 1.0F, 0},
      {"SingleSliceAtMost", Spec(DType::kFloat32, {1024}), 1.0F, 4096},
      {"TwoSlices", Spec(DType::kFloat32, {1024}), 1.0F, 4097},
      {"Long", Spec(DType::kFloat32, {1 << 20}), 1.0F, 4 << 20},
  };
}

template <typename Message>
Message Expected(const EncodeRow& row) {
  Message message;
  if (row.tensor) {
    message.mutable_tensor()->set_dtype(
        static_cast<v1::DataType>(static_cast<int>(row.tensor->dtype())));
    for (std::int64_t size : row.tensor->shape().dims()) message.mutable_tensor()->add_shape(size);
  }
  message.set_data(Text(row.data_bytes));
  return message;
}

TEST(EncodeTest, WritesWhatProtobufWrites) {
  for (const EncodeRow& row : EncodeRows()) {
    SCOPED_TRACE(row.name);
    const TensorSpec* tensor = row.tensor ? &*row.tensor : nullptr;
    const std::string data = Text(row.data_bytes);
    auto request = Expected<v1::ApplyRequest>(row);
    if (row.alpha) request.set_alpha(*row.alpha);
    EXPECT_TRUE(Join(EncodeApplyRequest(tensor, row.alpha, PayloadOf(data))) ==
                request.SerializeAsString());
    EXPECT_TRUE(Join(EncodeApplyResponse(tensor, PayloadOf(data))) ==
                Expected<v1::ApplyResponse>(row).SerializeAsString());
  }
}

TEST(EncodeTest, ComesBackWhenDecoded) {
  for (const EncodeRow& row : EncodeRows()) {
    SCOPED_TRACE(row.name);
    const TensorSpec* tensor = row.tensor ? &*row.tensor : nullptr;
    grpc::ByteBuffer message = EncodeApplyResponse(tensor, PayloadOf(Text(row.data_bytes)));
    const absl::StatusOr<ApplyMessage> decoded = DecodeApplyResponse(message);
    ASSERT_TRUE(decoded.ok());
    ASSERT_EQ(decoded->tensor.has_value(), row.tensor.has_value());
    if (row.tensor) {
      EXPECT_EQ(decoded->tensor->dtype, static_cast<std::int32_t>(row.tensor->dtype()));
      EXPECT_TRUE(std::ranges::equal(decoded->tensor->shape, row.tensor->shape().dims()));
    }
    EXPECT_TRUE(Join(decoded->data.slices()) == Text(row.data_bytes));
  }
}

TEST(EncodeTest, KeepsSmallMessagesInOneSlice) {
  const TensorSpec tensor = Spec(DType::kFloat32, {1024});
  Payload data = PayloadOf(Text(2000));
  data.Append(grpc::Slice(Text(2096)));
  grpc::Slice single;
  EXPECT_TRUE(EncodeApplyResponse(&tensor, std::move(data)).TrySingleSlice(&single).ok());
}

TEST(EncodeTest, RefersToLargePayloads) {
  const TensorSpec tensor = Spec(DType::kFloat32, {2000});
  Payload data = PayloadOf(Text(5000));
  data.Append(grpc::Slice(Text(3000)));
  const std::uint8_t* first = data.slices()[0].begin();
  const std::uint8_t* second = data.slices()[1].begin();
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(EncodeApplyResponse(&tensor, std::move(data)).Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 3);
  EXPECT_EQ(slices[1].begin(), first);
  EXPECT_EQ(slices[2].begin(), second);
}

// The whole way of a request: the operator's result, written into the received bytes, is what
// leaves.
TEST(EncodeTest, SendsTheReceivedSlicesOn) {
  std::string bytes = Request(8000).SerializeAsString();
  const std::array<std::size_t, 2> cuts = {2, 3000};
  grpc::ByteBuffer message = Refer(bytes, cuts);
  absl::StatusOr<ApplyMessage> decoded = DecodeApplyRequest(message);
  ASSERT_TRUE(decoded.ok());
  decoded->data.MutableSegments().ApplyInPlace(ThresholdedRelu(DType::kFloat32, 1e38F), 0, 8000);
  const TensorSpec tensor = Spec(DType::kFloat32, {2000});
  EXPECT_EQ(Join(EncodeApplyResponse(&tensor, std::move(decoded->data))),
            Join(EncodeApplyResponse(&tensor, PayloadOf(std::string(8000, '\0')))));
}

}  // namespace
}  // namespace trelu
