// Infer messages as they are written: byte for byte protobuf's, without a copy of large elements.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "proto/infer_codec.h"
#include "tests/proto/message_bytes.h"

namespace trelu {
namespace {

using testing::Cut;
using testing::Join;
using testing::Refer;

Payload PayloadOf(std::string_view bytes) {
  Payload payload;
  payload.Append(grpc::Slice(bytes.data(), bytes.size()));
  return payload;
}

inference::ModelInferResponse Response() {
  inference::ModelInferResponse response;
  response.set_model_name("thresholded_relu");
  response.set_model_version("1");
  response.set_id("7");
  (*response.mutable_parameters())["triton_final_response"].set_bool_param(true);
  inference::ModelInferResponse::InferOutputTensor& output = *response.add_outputs();
  output.set_name("Y");
  output.set_datatype("FP32");
  output.add_shape(4);
  return response;
}

struct EncodeRow {
  const char* name;
  bool header;
  std::vector<std::size_t> raw_bytes;
};
void PrintTo(const EncodeRow& row, std::ostream* out) { *out << row.name; }

class InferEncodeTest : public ::testing::TestWithParam<EncodeRow> {};

TEST_P(InferEncodeTest, WritesWhatProtobufWrites) {
  const EncodeRow& row = GetParam();
  inference::ModelInferResponse response =
      row.header ? Response() : inference::ModelInferResponse();
  inference::ModelInferRequest request;
  if (row.header) request.set_model_name("thresholded_relu");
  const inference::ModelInferResponse response_header = response;
  const inference::ModelInferRequest request_header = request;
  std::vector<Payload> raw;
  for (std::size_t bytes : row.raw_bytes) {
    const std::string text(bytes, 'x');
    raw.push_back(PayloadOf(text));
    response.add_raw_output_contents(text);
    request.add_raw_input_contents(text);
  }
  inference::ModelStreamInferResponse wrapped;
  *wrapped.mutable_infer_response() = response;

  EXPECT_TRUE(Join(EncodeModelInferRequest(request_header, raw)) == request.SerializeAsString());
  EXPECT_TRUE(Join(EncodeModelInferResponse(response_header, raw)) == response.SerializeAsString());
  EXPECT_TRUE(Join(EncodeModelStreamInferResponse(response_header, raw)) ==
              wrapped.SerializeAsString());
}

INSTANTIATE_TEST_SUITE_P(Rows, InferEncodeTest,
                         ::testing::Values(EncodeRow{"Nothing", false, {}},
                                           EncodeRow{"HeaderAlone", true, {}},
                                           EncodeRow{"OneEntry", true, {16}},
                                           EncodeRow{"EmptyEntry", true, {0}},
                                           EncodeRow{"EntriesAlone", false, {5, 0, 6}},
                                           EncodeRow{"SingleSliceAtMost", true, {4096}},
                                           EncodeRow{"TwoSlices", true, {4097}},
                                           EncodeRow{"SeveralInOneSlice", true, {1000, 0, 200, 0}},
                                           EncodeRow{"SeveralLarge", true, {5000, 0, 200000, 1, 0}},
                                           EncodeRow{"Long", true, {4 << 20}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(InferEncodeSlicesTest, KeepsSmallMessagesInOneSlice) {
  const std::array raw = {PayloadOf(std::string(2000, 'x')), PayloadOf(std::string(2096, 'y'))};
  grpc::Slice single;
  EXPECT_TRUE(EncodeModelInferResponse(Response(), raw).TrySingleSlice(&single).ok());
  EXPECT_TRUE(EncodeModelStreamInferResponse(Response(), raw).TrySingleSlice(&single).ok());
}

TEST(InferEncodeSlicesTest, RefersToLargePayloads) {
  std::array raw = {PayloadOf(std::string(5000, 'x')), PayloadOf(std::string(100, 'z'))};
  raw[0].Append(grpc::Slice(std::string(3000, 'y')));
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(EncodeModelInferResponse(Response(), raw).Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 5);
  EXPECT_EQ(slices[1].begin(), raw[0].slices()[0].begin());
  EXPECT_EQ(slices[2].begin(), raw[0].slices()[1].begin());
  EXPECT_EQ(slices[4].begin(), raw[1].slices()[0].begin());
}

// The whole way of a request: what was received is what leaves.
TEST(InferEncodeSlicesTest, SendsTheReceivedSlicesOn) {
  inference::ModelInferRequest request;
  request.add_inputs()->set_name("X");
  request.add_raw_input_contents(std::string(8000, 'x'));
  const std::string bytes = request.SerializeAsString();
  grpc::ByteBuffer message = Refer(bytes);
  const absl::StatusOr<InferRequest> decoded = DecodeModelInferRequest(message);
  ASSERT_TRUE(decoded.ok());
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(EncodeModelInferResponse(Response(), decoded->tensors.raw).Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 2);
  EXPECT_EQ(reinterpret_cast<const char*>(slices[1].begin()), bytes.data() + bytes.size() - 8000);
}

TEST(InferEncodeSlicesTest, ComesBackWhenDecoded) {
  const std::array raw = {PayloadOf(std::string(5000, 'x')), Payload()};
  grpc::ByteBuffer message = EncodeModelInferResponse(Response(), raw);
  const absl::StatusOr<InferResponse> decoded = DecodeModelInferResponse(message);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->header.SerializeAsString(), Response().SerializeAsString());
  ASSERT_EQ(decoded->tensors.raw.size(), 2);
  EXPECT_EQ(Join(decoded->tensors.raw[0].slices()), std::string(5000, 'x'));
  EXPECT_TRUE(decoded->tensors.raw[1].empty());
}

}  // namespace
}  // namespace trelu
