// What the Open Inference face says and refuses while its server drains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "tests/e2e/gated_server.h"
#include "tests/support/inference_methods.h"

namespace trelu::testing {
namespace {

using ::testing::HasSubstr;

class InferenceDrain : public GatedServer {
 protected:
  explicit InferenceDrain(std::chrono::milliseconds delay = {}) : GatedServer(Options(delay)) {
    gate_->Open();
  }

  std::future<void> BeginDrain() {
    return std::async(std::launch::async, [this] { server_->Drain(); });
  }
  double Refused() const {
    return server_.metrics().Value("trelu_rejected_total{reason=\"draining\"}");
  }
  bool ServerReady() {
    return Ask<inference::ServerReadyResponse>(client_, "ServerReady",
                                               inference::ServerReadyRequest())
        .response.ready();
  }
  bool ModelReady() {
    inference::ModelReadyRequest request;
    request.set_name("thresholded_relu");
    return Ask<inference::ModelReadyResponse>(client_, "ModelReady", request).response.ready();
  }

 private:
  static server::Options Options(std::chrono::milliseconds delay) {
    server::Options options = GatedOptions();
    options.drain_delay = delay;
    options.drain_grace = std::chrono::hours(1);
    return options;
  }
};

class InferenceDrainDelay : public InferenceDrain {
 protected:
  InferenceDrainDelay() : InferenceDrain(std::chrono::hours(1)) {}
};

TEST_F(InferenceDrainDelay, NothingIsReadyAndNothingIsRefused) {
  EXPECT_TRUE(ServerReady());
  EXPECT_TRUE(ModelReady());
  auto drained = BeginDrain();
  EXPECT_TRUE(Eventually([&] { return !ServerReady(); }));
  EXPECT_FALSE(ModelReady());
  const auto live =
      Ask<inference::ServerLiveResponse>(client_, "ServerLive", inference::ServerLiveRequest());
  EXPECT_TRUE(live.response.live());
  EXPECT_TRUE(
      client_.Call(kModelInfer, ToInferRequest(Tensor(64)).SerializeAsString()).status.ok());
  server_->HurryDrain();
  drained.get();
}

TEST_F(InferenceDrain, AnOpenStreamRefusesWhatComesWithinTheStream) {
  // The first answer is larger than the transport's window, so until the caller reads, its write
  // keeps the stream open.
  RawStream stream(client_.channel(), kModelStreamInfer, nullptr, RawStream::Reading::kOnDemand);
  ASSERT_TRUE(stream.Write(ToInferRequest(Tensor(32 << 20), "early").SerializeAsString()));
  ASSERT_TRUE(Eventually([&] { return Kernels() == 1; }));
  auto drained = BeginDrain();
  EXPECT_TRUE(Eventually([&] {
    return client_.Apply(ToRequest(Tensor(64))).status.error_code() == grpc::UNAVAILABLE;
  }));
  EXPECT_TRUE(Eventually([&] { return Refused() == 1; }));
  EXPECT_TRUE(stream.Write(ToInferRequest(Tensor(64), "late").SerializeAsString()));
  EXPECT_TRUE(Eventually([&] { return Refused() == 2; }));

  const auto early = ParseStreamed(stream.Read());
  EXPECT_EQ(early.error_message(), "");
  EXPECT_EQ(early.infer_response().id(), "early");
  const auto late = ParseStreamed(stream.Read());
  EXPECT_THAT(late.error_message(), HasSubstr("server draining"));
  EXPECT_EQ(late.infer_response().id(), "late");
  EXPECT_EQ(late.infer_response().parameters().at("grpc_status_code").int64_param(),
            grpc::UNAVAILABLE);
  EXPECT_EQ(stream.Finish().error_code(), grpc::UNAVAILABLE);
  drained.get();
}

}  // namespace
}  // namespace trelu::testing
