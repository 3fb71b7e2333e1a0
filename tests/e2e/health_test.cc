// grpc.health.v1 as its protocol says: Check and Watch, per service name.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"

namespace trelu::testing {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthTest : public ::testing::Test {
 protected:
  HealthTest() : client_(server_.target()), stub_(Health::NewStub(client_.channel())) {}

  static HealthCheckRequest Named(const std::string& name) {
    HealthCheckRequest request;
    request.set_service(name);
    return request;
  }

  InProcessServer server_;
  NativeClient client_;
  std::unique_ptr<Health::Stub> stub_;
};

TEST_F(HealthTest, CheckKnowsEachName) {
  for (const char* name :
       {"", "trelu.v1.ThresholdedRelu", "trelu.v1.Server", "readiness", "liveness"}) {
    grpc::ClientContext context;
    HealthCheckResponse response;
    const grpc::Status status = stub_->Check(&context, Named(name), &response);
    ASSERT_TRUE(status.ok()) << name << ": " << status.error_message();
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << name;
  }
}

TEST_F(HealthTest, CheckRefusesNamesThatItDoesNotKnow) {
  struct Row {
    std::string name;
    grpc::StatusCode code;
  };
  for (const Row& row : {Row{"no.such.Service", grpc::StatusCode::NOT_FOUND},
                         Row{std::string(200, 'x'), grpc::StatusCode::NOT_FOUND},
                         Row{std::string(201, 'x'), grpc::StatusCode::INVALID_ARGUMENT}}) {
    grpc::ClientContext context;
    HealthCheckResponse response;
    EXPECT_EQ(stub_->Check(&context, Named(row.name), &response).error_code(), row.code);
  }
}

TEST_F(HealthTest, WatchOfAnUnknownNameStaysOpen) {
  grpc::ClientContext context;
  auto watch = stub_->Watch(&context, Named("no.such.Service"));
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(HealthTest, ManyWatchesHearOfTheDrainAndDoNotHoldItUp) {
  constexpr int kConnections = 4;
  constexpr int kWatchesEach = 75;
  struct OneWatch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
  };
  std::vector<std::unique_ptr<NativeClient>> clients;
  std::vector<std::unique_ptr<OneWatch>> watches;
  HealthCheckResponse response;
  for (int i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<NativeClient>(server_.target()));
    auto stub = Health::NewStub(clients.back()->channel());
    for (int k = 0; k < kWatchesEach; ++k) {
      auto& watch = *watches.emplace_back(std::make_unique<OneWatch>());
      watch.reader = stub->Watch(&watch.context, Named(k % 2 == 0 ? "" : "liveness"));
      ASSERT_TRUE(watch.reader->Read(&response));
      EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
    }
  }
  EXPECT_EQ(server_->calls_in_flight(), 0);
  server_->Drain();
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (i % kWatchesEach % 2 == 0) {
      ASSERT_TRUE(watches[i]->reader->Read(&response));
      EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
    }
    // Draining is not illness: liveness has nothing to report.
    EXPECT_FALSE(watches[i]->reader->Read(&response));
    EXPECT_EQ(watches[i]->reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST_F(HealthTest, WatchThatItsCallerLeavesIsForgotten) {
  {
    grpc::ClientContext context;
    auto watch = stub_->Watch(&context, Named(""));
    HealthCheckResponse response;
    ASSERT_TRUE(watch->Read(&response));
    context.TryCancel();
    while (watch->Read(&response)) {
    }
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(Eventually([&] {
    return server_.metrics().Value(
               "grpc_server_handled_total{grpc_type=\"server_stream\",grpc_service=\"grpc.health."
               "v1."
               "Health\",grpc_method=\"Watch\",grpc_code=\"Canceled\"}") == 1;
  }));
}

}  // namespace
}  // namespace trelu::testing
