// A server that is told to stop first says so, then refuses what is new, finishes what it has, and
// goes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/e2e/gated_server.h"

namespace trelu::testing {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckResponse;

// Drains that no test waits out: what ends them is HurryDrain, or the last call.
server::Options PatientOptions() {
  server::Options options = GatedOptions();
  options.drain_delay = std::chrono::hours(1);
  options.drain_grace = std::chrono::hours(1);
  return options;
}

class DrainTest : public GatedServer {
 protected:
  explicit DrainTest(const server::Options& options = PatientOptions()) : GatedServer(options) {}

  HealthCheckResponse::ServingStatus Check(const std::string& service) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status status =
        Health::NewStub(client_.channel())->Check(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.status();
  }

  std::future<void> BeginDrain() {
    return std::async(std::launch::async, [this] { server_->Drain(); });
  }
};

TEST_F(DrainTest, SaysNotServingFirstThenRefusesThenFinishesWhatItHas) {
  const WireTensorCase tensor = Tensor(1 << 20);
  auto in_flight = std::async(std::launch::async, [&] { return client_.Apply(ToRequest(tensor)); });
  gate_->WaitForKept(1);

  auto drained = BeginDrain();
  EXPECT_TRUE(Eventually([&] { return Check("") == HealthCheckResponse::NOT_SERVING; }));
  EXPECT_EQ(Check("trelu.v1.ThresholdedRelu"), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Check("readiness"), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Check("liveness"), HealthCheckResponse::SERVING);
  EXPECT_THROW(HttpGet(server_->admin_address(), "/readyz"), std::exception);
  EXPECT_NO_THROW(HttpGet(server_->admin_address(), "/livez"));
  // During the delay nobody is refused.
  auto late = std::async(std::launch::async, [&] { return client_.Apply(ToRequest(tensor)); });
  gate_->WaitForKept(2);

  server_->HurryDrain();
  Answer refused;
  EXPECT_TRUE(Eventually([&] {
    // Work for the gate until the delay is really over, then a refusal. A deadline keeps a call
    // that is still let in from waiting for the gate.
    refused = client_.Apply(ToRequest(Tensor(64)), [](grpc::ClientContext& context) {
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    });
    return refused.status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED;
  }));
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.status.error_message(), "server draining");
  const auto pushback = refused.trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, refused.trailers.end());
  EXPECT_EQ(pushback->second, "100");
  auto refused_stream = client_.OpenStream();
  EXPECT_EQ(refused_stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);

  gate_->Open();
  for (auto* answer : {&in_flight, &late}) {
    const Answer got = answer->get();
    ASSERT_TRUE(got.status.ok()) << got.status.error_message();
    EXPECT_TRUE(ParseResponse(got.message)->Is(tensor, Expected(tensor)));
  }
  drained.wait();
  EXPECT_EQ(server_->calls_in_flight(), 0);
}

TEST_F(DrainTest, TwiceAndFromTwoThreadsIsOnce) {
  auto first = BeginDrain();
  auto second = BeginDrain();
  server_->HurryDrain();
  first.wait();
  second.wait();
  server_->Drain();
}

class ImpatientDrainTest : public DrainTest {
 protected:
  ImpatientDrainTest() : DrainTest(Options()) { gate_->Open(); }
  static server::Options Options() {
    server::Options options = TestOptions();
    options.drain_grace = std::chrono::milliseconds(100);
    return options;
  }
};

TEST_F(ImpatientDrainTest, CutsAStreamThatNeverEnds) {
  auto stream = client_.OpenStream();
  ASSERT_TRUE(stream->Write(ToChunks(Tensor(64), 32)[0].SerializeAsString()));
  ASSERT_TRUE(stream->Read().has_value());
  auto drained = BeginDrain();
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "server draining");
  drained.wait();
}

TEST_F(ImpatientDrainTest, CutsAStreamWhoseCallerDoesNotRead) {
  auto stream = client_.OpenStream(nullptr, RawStream::Reading::kOnDemand);
  const std::string request = ToRequest(Tensor(1 << 20)).SerializeAsString();
  std::atomic<int> written{0};
  std::thread writer([&] {
    while (stream->Write(request)) ++written;
  });
  EXPECT_TRUE(Eventually([&] { return written > 2; }));
  server_->Drain();
  writer.join();
  stream->Finish();
}

// Clients that try again lose nothing when their server is replaced under them.
TEST(DrainUnderLoadTest, EveryAnswerIsRightAndEveryFailureMayBeTriedAgain) {
  constexpr int kClients = 4;
  server::Options options = TestOptions();
  options.drain_grace = std::chrono::seconds(10);
  auto server = std::make_unique<InProcessServer>(options);
  std::atomic<int> right{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  clients.reserve(kClients);
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i, target = server->target()] {
      NativeClient client(target);
      std::mt19937_64 random(static_cast<std::uint64_t>(i));
      while (true) {
        const WireTensorCase tensor = RandomTensor(random, 1 << 20);
        const Answer answer = client.Apply(ToRequest(tensor));
        // The server refuses or is gone, or a call crossed its goodbye on the wire: a client with
        // another address would try again there.
        if (answer.status.error_code() == grpc::StatusCode::UNAVAILABLE ||
            answer.status.error_code() == grpc::StatusCode::CANCELLED) {
          return;
        }
        if (answer.status.ok() && ParseResponse(answer.message)->Is(tensor, Expected(tensor))) {
          ++right;
        } else {
          ++wrong;
          ADD_FAILURE() << answer.status.error_code() << " " << answer.status.error_message();
          return;
        }
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return right >= 50 || wrong > 0; }));
  (*server)->Drain();
  for (auto& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trelu::testing
