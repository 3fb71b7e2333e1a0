// A stream on which nothing moves is ended, whoever is to blame; one that moves is not.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/e2e/gated_server.h"
#include "tests/support/infer_tensor.h"

namespace trelu::testing {
namespace {

constexpr std::chrono::milliseconds kTimeout{300};

server::Options ShortIdleTimeout() {
  server::Options options = TestOptions();
  options.stream_idle_timeout = kTimeout;
  return options;
}

class IdleTest : public GatedServer {
 protected:
  IdleTest() : GatedServer(ShortIdleTimeout()) { gate_->Open(); }

  void ExpectEndedAsIdle() {
    EXPECT_TRUE(Eventually(
        [&] { return server_.metrics().Value("trelu_rejected_total{reason=\"idle\"}") == 1; }));
    ExpectNothingLeft();
  }
};

TEST_F(IdleTest, CallerThatSendsNothing) {
  auto stream = client_.OpenStream();
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("--stream-idle-timeout"));
  ExpectEndedAsIdle();
}

TEST_F(IdleTest, CallerThatStopsInsideATensor) {
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(ToChunks(Tensor(64), 32)[0].SerializeAsString()));
  ASSERT_TRUE(stream->Read().has_value());
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ExpectEndedAsIdle();
}

TEST_F(IdleTest, CallerThatStopsAfterAnInference) {
  RawStream stream(client_.channel(), kModelStreamInfer);
  ASSERT_TRUE(stream.Write(ToInferRequest(Tensor(64)).SerializeAsString()));
  ASSERT_TRUE(stream.Read().has_value());
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ExpectEndedAsIdle();
}

TEST_F(IdleTest, CallerThatWritesButNeverReads) {
  auto stream = client_.OpenStream(nullptr, RawStream::Reading::kOnDemand);
  auto chunk = v1::ApplyRequest();
  chunk.mutable_tensor()->set_dtype(v1::DATA_TYPE_FLOAT);
  chunk.mutable_tensor()->add_shape(std::int64_t{1} << 28);
  chunk.set_data(std::string(1 << 20, '\x40'));
  // Flow control stops this writer after what the windows, the socket and the server's few chunks
  // hold; then nothing moves any more, and the server ends the call.
  while (stream->Write(chunk.SerializeAsString())) chunk.clear_tensor();
  // Inside the process the server's share is bounded by its own count.
  EXPECT_LE(server_.metrics().Value("trelu_inflight_bytes"), 8 << 20);
  stream->context().TryCancel();
  stream->Finish();
  ExpectEndedAsIdle();
}

TEST_F(IdleTest, StreamThatMovesOutlivesTheTimeout) {
  const auto begun = std::chrono::steady_clock::now();
  const WireTensorCase tensor = Tensor(64);
  const std::string request = ToRequest(tensor).SerializeAsString();
  auto stream = client_.OpenStream();
  while (std::chrono::steady_clock::now() - begun < 3 * kTimeout) {
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read().has_value());
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace trelu::testing
