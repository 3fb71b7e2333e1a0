// A call that its caller gives up ends at once, wherever it is, and leaves nothing behind.
#include <gtest/gtest.h>

#include <memory>

#include "tests/e2e/gated_server.h"

namespace trelu::testing {
namespace {

class CancelTest : public GatedServer {
 protected:
  // Lets the workers go on once the server has heard of all that the client has done: frames of one
  // connection arrive in order, so the answer to a later call says so.
  void OpenWhenHeard() {
    EXPECT_TRUE(client_.Call("/trelu.v1.Server/GetInfo", "").status.ok());
    gate_->Open();
  }
  void ExpectCancelled(const std::string& method) {
    EXPECT_TRUE(Eventually([&] { return Handled(method, "Canceled") == 1; }));
    gate_->Open();
    ExpectNothingLeft();
  }
};

TEST_F(CancelTest, UnaryWhileTheWorkWaits) {
  const WireTensorCase tensor = Tensor(8 << 20);
  RawStream call(client_.channel(), kApply);
  ASSERT_TRUE(call.Write(ToRequest(tensor).SerializeAsString()));
  ASSERT_TRUE(call.WritesDone());
  gate_->WaitForKept(1);
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::CANCELLED);
  // The caller has left; the work is taken up now, and must see that before its first block.
  OpenWhenHeard();
  ExpectCancelled("Apply");
  EXPECT_EQ(server_.metrics().Value("trelu_rejected_total{reason=\"cancelled\"}"), 1);
}

TEST_F(CancelTest, StreamBeforeItsFirstMessage) {
  auto stream = client_.OpenStream();
  EXPECT_TRUE(Eventually([&] { return server_->calls_in_flight() == 1; }));
  stream->context().TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  ExpectCancelled("ApplyStream");
}

TEST_F(CancelTest, StreamBetweenTwoMessages) {
  gate_->Open();
  const WireTensorCase tensor = Tensor(64);
  const auto chunks = ToChunks(tensor, 32);
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(chunks[0].SerializeAsString()));
  ASSERT_TRUE(stream->Read().has_value());
  stream->context().TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  ExpectCancelled("ApplyStream");
}

TEST_F(CancelTest, StreamWhileAWorkerHoldsItsChunk) {
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(ToRequest(Tensor(1 << 20)).SerializeAsString()));
  gate_->WaitForKept(1);
  stream->context().TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  OpenWhenHeard();
  ExpectCancelled("ApplyStream");
}

TEST_F(CancelTest, StreamAfterItsLastByte) {
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(ToRequest(Tensor(1 << 20)).SerializeAsString()));
  stream->WritesDone();
  gate_->WaitForKept(1);
  stream->context().TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  OpenWhenHeard();
  ExpectCancelled("ApplyStream");
}

}  // namespace
}  // namespace trelu::testing
