// A server that is full says so, at once and with a time to come back; whoever it serves is served
// right.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "tests/e2e/gated_server.h"

namespace trelu::testing {
namespace {

constexpr std::uint64_t kBudget = 4 << 20;

server::Options SmallBudget() {
  server::Options options = GatedOptions();
  options.max_inflight_bytes = kBudget;
  return options;
}

class OverloadTest : public GatedServer {
 protected:
  OverloadTest() : GatedServer(SmallBudget()) {}

  // Fills the budget with one call whose work waits.
  std::future<Answer> Occupy(const WireTensorCase& tensor) {
    auto answer = std::async(std::launch::async,
                             [this, &tensor] { return client_.Apply(ToRequest(tensor)); });
    gate_->WaitForKept(1);
    return answer;
  }

  void ExpectRefused(const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr("--max-inflight-bytes"));
  }
};

TEST_F(OverloadTest, FullBudgetRefusesWithAPushbackAndRecovers) {
  const WireTensorCase large = Tensor(3 << 20);
  auto occupying = Occupy(large);
  EXPECT_GT(server_.metrics().Value("trelu_inflight_bytes"), 3 << 20);

  const Answer refused = client_.Apply(ToRequest(Tensor(2 << 20)));
  ExpectRefused(refused.status);
  const auto pushback = refused.trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, refused.trailers.end());
  EXPECT_EQ(pushback->second, "50");
  // Counted when the call has ended, which may be after its answer arrived.
  EXPECT_TRUE(Eventually([&] {
    return server_.metrics().Value("trelu_rejected_total{reason=\"over_budget\"}") == 1;
  }));

  // What fits is still let in.
  const WireTensorCase small = Tensor(1 << 10);
  auto fits = std::async(std::launch::async, [&] { return client_.Apply(ToRequest(small)); });
  gate_->WaitForKept(2);
  gate_->Open();
  for (const auto& [answer, tensor] :
       {std::pair(occupying.get(), large), std::pair(fits.get(), small)}) {
    ASSERT_TRUE(answer.status.ok());
    EXPECT_TRUE(ParseResponse(answer.message)->Is(tensor, Expected(tensor)));
  }
  ExpectNothingLeft();
}

TEST_F(OverloadTest, TensorAboveTheBudgetIsServedWhenNothingElseIsInFlight) {
  gate_->Open();
  const WireTensorCase larger = Tensor(kBudget + (1 << 20));
  const Answer answer = client_.Apply(ToRequest(larger));
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_TRUE(ParseResponse(answer.message)->Is(larger, Expected(larger)));
}

TEST_F(OverloadTest, StreamIsRefusedAtItsBeginning) {
  const WireTensorCase large = Tensor(3 << 20);
  auto occupying = Occupy(large);
  auto stream = client_.OpenStream();
  stream->Write(ToRequest(Tensor(1 << 20)).SerializeAsString());
  ExpectRefused(stream->Finish());
  gate_->Open();
  EXPECT_TRUE(occupying.get().status.ok());
}

TEST_F(OverloadTest, StreamWithEvenChunksIsNeverTurnedAwayHalfWay) {
  gate_->Open();
  const WireTensorCase tensor = Tensor(2 << 20);
  const auto chunks = ToChunks(tensor, 128 << 10);
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(chunks[0].SerializeAsString()));
  ASSERT_TRUE(stream->Read().has_value());
  // The rest of the budget, and more, is wanted by others from here on.
  gate_->Close();
  const WireTensorCase rest = Tensor(3 << 20);
  auto occupying = Occupy(rest);
  ExpectRefused(client_.Apply(ToRequest(Tensor(1 << 20))).status);
  gate_->Open();
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    ASSERT_TRUE(stream->Write(chunks[i].SerializeAsString()));
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(occupying.get().status.ok());
}

TEST_F(OverloadTest, AStreamBetweenTensorsHoldsNothing) {
  gate_->Open();
  const WireTensorCase tensor = Tensor(1 << 20);
  auto stream = client_.OpenStream();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stream->Write(ToRequest(tensor).SerializeAsString()));
    ASSERT_TRUE(stream->Read().has_value());
    EXPECT_TRUE(Eventually([&] { return server_.metrics().Value("trelu_inflight_bytes") == 0; }));
    EXPECT_TRUE(client_.Apply(ToRequest(Tensor(kBudget - 1024))).status.ok());
  }
  // What comes next is asked for again.
  gate_->Close();
  const WireTensorCase large = Tensor(3 << 20);
  auto occupying = Occupy(large);
  ASSERT_TRUE(stream->Write(ToRequest(tensor).SerializeAsString()));
  ExpectRefused(stream->Finish());
  gate_->Open();
  EXPECT_TRUE(occupying.get().status.ok());
}

TEST_F(OverloadTest, ManyIdleStreamsHoldNothingUp) {
  gate_->Open();
  constexpr int kConnections = 10;
  constexpr int kStreamsEach = 90;
  std::vector<std::unique_ptr<NativeClient>> clients;
  std::vector<std::unique_ptr<RawStream>> streams;
  for (int i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<NativeClient>(server_.target()));
    for (int k = 0; k < kStreamsEach; ++k) streams.push_back(clients.back()->OpenStream());
  }
  EXPECT_TRUE(
      Eventually([&] { return server_->calls_in_flight() == kConnections * kStreamsEach; }));
  EXPECT_EQ(server_.metrics().Value("trelu_inflight_bytes"), 0);
  ExpectServes(client_);
  streams.clear();
  ExpectNothingLeft();
}

}  // namespace
}  // namespace trelu::testing
