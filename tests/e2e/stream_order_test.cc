// Many tensors on one stream, each with its own dtype, shape and alpha: results come back whole, in
// order, and as soon as they are computed.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

struct Place {
  const char* name;
  std::uint64_t inline_bytes;
};

class StreamOrder : public ::testing::TestWithParam<Place> {
 protected:
  static server::Options ServerOptions() {
    server::Options options = TestOptions();
    options.inline_bytes = GetParam().inline_bytes;
    return options;
  }

  InProcessServer server_{ServerOptions()};
  NativeClient client_{server_.target()};
};

TEST_P(StreamOrder, RandomTensorsInRandomChunks) {
  std::mt19937_64 random(20260131);
  for (int round = 0; round < 20; ++round) {
    std::vector<WireTensorCase> tensors;
    auto stream = client_.OpenStream();
    for (int i = 0; i < 40; ++i) {
      const WireTensorCase& tensor = tensors.emplace_back(RandomTensor(random, 1 << 18));
      const std::size_t chunk_bytes = 1 + tensor.data.size() / (1 + random() % 16);
      for (const auto& chunk : ToChunks(tensor, chunk_bytes)) {
        ASSERT_TRUE(stream->Write(chunk.SerializeAsString()));
      }
    }
    stream->WritesDone();
    const auto results = JoinResponses(stream->ReadAll());
    const grpc::Status status = stream->Finish();
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_TRUE(results);
    ASSERT_EQ(results->size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ASSERT_TRUE(results->at(i).Is(tensors[i], Expected(tensors[i]))) << "tensor " << i;
    }
  }
}

TEST_P(StreamOrder, ResultsLeaveBeforeTheInputEnds) {
  std::mt19937_64 random(7);
  auto stream = client_.OpenStream();
  for (int i = 0; i < 100; ++i) {
    const WireTensorCase tensor = RandomTensor(random, 1 << 12);
    ASSERT_TRUE(stream->Write(ToRequest(tensor).SerializeAsString()));
    const auto response = stream->Read();
    ASSERT_TRUE(response);
    const auto result = ParseResponse(*response);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->Is(tensor, Expected(tensor))) << "tensor " << i;
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_P(StreamOrder, TheFirstHalfOfATensorLeavesBeforeTheSecondComes) {
  const WireTensorCase tensor = {DType::kFloat32, {4}, 0.0F, std::string(16, '\1')};
  const auto chunks = ToChunks(tensor, 10);
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(chunks[0].SerializeAsString()));
  const auto first = ParseResponse(stream->Read().value_or(""));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->data, tensor.data.substr(0, 8));
  ASSERT_TRUE(stream->Write(chunks[1].SerializeAsString()));
  stream->WritesDone();
  v1::ApplyResponse second;
  ASSERT_TRUE(second.ParseFromString(stream->Read().value_or("")));
  EXPECT_FALSE(second.has_tensor());
  EXPECT_EQ(second.data(), tensor.data.substr(8));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_P(StreamOrder, AlphaOfOneTensorIsNotThatOfTheNext) {
  const std::string half("\0\0\0\x3f", 4);
  const WireTensorCase with = {DType::kFloat32, {1}, 0.0F, half};
  const WireTensorCase without = {DType::kFloat32, {1}, std::nullopt, half};
  auto stream = client_.OpenStream();
  for (const auto& tensor : {with, without, with}) {
    ASSERT_TRUE(stream->Write(ToRequest(tensor).SerializeAsString()));
  }
  stream->WritesDone();
  const auto results = JoinResponses(stream->ReadAll());
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 3U);
  EXPECT_EQ(results->at(0).data, half);
  EXPECT_EQ(results->at(1).data, std::string(4, '\0'));
  EXPECT_EQ(results->at(2).data, half);
}

TEST_P(StreamOrder, ResultsBeforeAWrongTensorStayValid) {
  const WireTensorCase good = {DType::kFloat16, {2}, -1.0F, std::string("\0\x3c\0\x80", 4)};
  WireTensorCase wrong = good;
  wrong.shape = {2, -3};
  auto stream = client_.OpenStream();
  stream->Write(ToRequest(good).SerializeAsString());
  stream->Write(ToRequest(good).SerializeAsString());
  stream->Write(ToRequest(wrong).SerializeAsString());
  const auto results = JoinResponses(stream->ReadAll());
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "tensor 2: tensor.shape[1] = -3: must be >= 0");
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 2U);
  for (const WireResult& result : *results) EXPECT_TRUE(result.Is(good, Expected(good)));
}

INSTANTIATE_TEST_SUITE_P(Computed, StreamOrder,
                         ::testing::Values(Place{"OnTheQueue", std::uint64_t{1} << 40},
                                           Place{"ByTheWorkers", 0}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trelu::testing
