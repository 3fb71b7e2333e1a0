// What the client makes of servers that share memory badly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/create.h"
#include "inference/open_inference.grpc.pb.h"
#include "tests/client/tensors.h"
#include "tests/support/fake_server.h"

namespace trelu::testing {
namespace {

using inference::ModelInferRequest;
using inference::ModelStreamInferResponse;

// Takes every region without looking at it, and leaves the elements as they are.
class FakeInference final : public inference::GRPCInferenceService::Service {
 public:
  grpc::Status registration = grpc::Status::OK;
  std::function<void()> before_registration = [] {};
  // How streams end, after so many answers.
  grpc::Status end = grpc::Status::OK;
  int answers = 1000;
  std::function<void(ModelStreamInferResponse&)> distort = [](auto&) {};

  int streams() const {
    const std::lock_guard lock(mutex_);
    return streams_;
  }

 private:
  grpc::Status SystemSharedMemoryRegister(
      grpc::ServerContext* /*context*/,
      const inference::SystemSharedMemoryRegisterRequest* /*request*/,
      inference::SystemSharedMemoryRegisterResponse* /*response*/) override {
    before_registration();
    return registration;
  }

  grpc::Status ModelStreamInfer(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<ModelStreamInferResponse, ModelInferRequest>* stream) override {
    {
      const std::lock_guard lock(mutex_);
      ++streams_;
    }
    if (end.error_code() == grpc::StatusCode::UNAVAILABLE) {
      context->AddTrailingMetadata("grpc-retry-pushback-ms", "7");
    }
    ModelInferRequest request;
    for (int i = 0; i < answers && stream->Read(&request); ++i) {
      ModelStreamInferResponse response;
      auto& answer = *response.mutable_infer_response();
      answer.set_id(request.id());
      auto& output = *answer.add_outputs();
      output.set_name("Y");
      output.set_datatype(request.inputs(0).datatype());
      *output.mutable_shape() = request.inputs(0).shape();
      answer.add_raw_output_contents();
      distort(response);
      stream->Write(response);
    }
    return end;
  }

  mutable std::mutex mutex_;
  int streams_ = 0;
};

class SharedMemoryTest : public ::testing::Test {
 protected:
  explicit SharedMemoryTest(const std::string& prefix = "/")
      : server_({.shared_memory_prefix = prefix, .further = &inference_}) {}

  std::unique_ptr<Client> Connect(int max_attempts = 4) {
    ClientOptions options = {.target = server_.target()};
    options.retry.max_attempts = max_attempts;
    return CreateClient(options, {.random = [] { return 0.5; },
                                  .wait =
                                      [this](std::chrono::milliseconds wait) {
                                        waits_.push_back(static_cast<int>(wait.count()));
                                        return std::chrono::milliseconds(0);
                                      }})
        .value();
  }

  // The fake face leaves elements as they are; the native one computes.
  void ExpectComputed(const absl::Status& status) {
    EXPECT_EQ(status, absl::OkStatus());
    EXPECT_TRUE(y_ == Expected(spec_, 1, x_));
  }

  FakeInference inference_;
  FakeServer server_;
  std::vector<int> waits_;
  const TensorSpec spec_ = Spec(DType::kFloat32, {100, 21'500});
  const Bytes x_ = SomeBytes(spec_.bytes());
  Bytes y_ = Bytes(x_.size());
};

TEST_F(SharedMemoryTest, TakesTheSharedWayWhenItIsThere) {
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), absl::OkStatus());
  EXPECT_EQ(inference_.streams(), 1);
  EXPECT_EQ(server_.tries(), 0);
  EXPECT_TRUE(y_ == x_);
}

TEST_F(SharedMemoryTest, ARefusedRegistrationIsNotRepeatedAtOnce) {
  inference_.registration = {grpc::StatusCode::NOT_FOUND, "another host's"};
  const auto client = Connect();
  ExpectComputed(client->Apply(spec_, x_, y_));
  inference_.registration = grpc::Status::OK;
  ExpectComputed(client->Apply(spec_, x_, y_));
  EXPECT_EQ(server_.tries(), 2);
  EXPECT_EQ(inference_.streams(), 0);
}

TEST_F(SharedMemoryTest, ARefusedBufferIsNotTriedAgainAtOnceUnlessItIsItsSizes) {
  int registrations = 0;
  inference_.before_registration = [&registrations] { ++registrations; };
  inference_.registration = {grpc::StatusCode::RESOURCE_EXHAUSTED, "too large"};
  const auto client = Connect();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(client->NewSharedBuffer(100).value()->shared());
  EXPECT_EQ(registrations, 3);
  inference_.registration = {grpc::StatusCode::UNAVAILABLE, "gone"};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(client->NewSharedBuffer(100).value()->shared());
  EXPECT_EQ(registrations, 4);
}

TEST_F(SharedMemoryTest, AFullServerIsTriedAgainAsItSays) {
  inference_.end = {grpc::StatusCode::UNAVAILABLE, "full"};
  inference_.answers = 0;
  ExpectComputed(Connect()->Apply(spec_, x_, y_));
  EXPECT_THAT(waits_, ::testing::ElementsAre(7));
  EXPECT_EQ(server_.tries(), 1);
}

TEST_F(SharedMemoryTest, TriesOfBothWaysAreCountedTogether) {
  inference_.end = {grpc::StatusCode::UNAVAILABLE, "full"};
  inference_.answers = 0;
  server_.SetScript({.failures = 100});
  EXPECT_EQ(Connect(3)->Apply(spec_, x_, y_), absl::UnavailableError("as the script says"));
  EXPECT_EQ(inference_.streams() + server_.tries(), 3);
  EXPECT_EQ(Connect(1)->Apply(spec_, x_, y_), absl::UnavailableError("full"));
  EXPECT_EQ(inference_.streams() + server_.tries(), 4);
}

// Whatever went wrong this time, the server knows the buffer still.
TEST_F(SharedMemoryTest, AFailureThatIsNotTheBuffersLeavesItShared) {
  inference_.end = {grpc::StatusCode::INTERNAL, "a bad day"};
  inference_.answers = 0;
  const auto client = Connect();
  const auto buffer = client->NewSharedBuffer(spec_.bytes()).value();
  std::ranges::copy(x_, buffer->bytes().begin());
  ASSERT_EQ(client->Apply(spec_, buffer->bytes(), buffer->bytes()), absl::OkStatus());
  EXPECT_EQ(server_.tries(), 1);
  EXPECT_TRUE(buffer->shared());
  inference_.end = grpc::Status::OK;
  inference_.answers = 1000;
  ASSERT_EQ(client->Apply(spec_, buffer->bytes(), buffer->bytes()), absl::OkStatus());
  EXPECT_EQ(server_.tries(), 1);
  EXPECT_EQ(inference_.streams(), 2);
}

// That a server has gone does not mean that it has stopped writing to the caller's buffer.
TEST_F(SharedMemoryTest, AResultInTheCallersBufferIsNotAskedForTwice) {
  inference_.end = {grpc::StatusCode::CANCELLED, "gone"};
  inference_.answers = 0;
  const auto client = Connect();
  const auto y = client->NewSharedBuffer(spec_.bytes()).value();
  ASSERT_TRUE(y->shared());
  EXPECT_EQ(client->Apply(spec_, x_, y->bytes()), absl::CancelledError("gone"));
  EXPECT_EQ(server_.tries(), 0);
}

TEST_F(SharedMemoryTest, UnlessTheServerItselfRefused) {
  inference_.end = {grpc::StatusCode::UNAVAILABLE, "full"};
  inference_.answers = 0;
  const auto client = Connect();
  const auto y = client->NewSharedBuffer(spec_.bytes()).value();
  ASSERT_TRUE(y->shared());
  EXPECT_EQ(client->Apply(spec_, x_, y->bytes()), absl::OkStatus());
  EXPECT_EQ(server_.tries(), 1);
}

// One caller's hurry is not everybody's; and half of its time is for the other way.
TEST_F(SharedMemoryTest, ACallWithoutTimeForARegionGoesTheOtherWayAndTheNextShares) {
  std::promise<void> gate;
  inference_.before_registration = [opened = gate.get_future().share()] { opened.wait(); };
  const auto client = Connect();
  ExpectComputed(client->Apply(spec_, x_, y_, {.timeout = std::chrono::milliseconds(1000)}));
  EXPECT_EQ(inference_.streams(), 0);
  gate.set_value();
  EXPECT_EQ(client->Apply(spec_, x_, y_), absl::OkStatus());
  EXPECT_EQ(inference_.streams(), 1);
}

struct EndCase {
  std::string name;
  grpc::StatusCode code;
};
class SharedMemoryEndTest : public SharedMemoryTest,
                            public ::testing::WithParamInterface<EndCase> {};

TEST_P(SharedMemoryEndTest, HalfWayTakesTheOtherWay) {
  inference_.end = {GetParam().code, "half-way"};
  inference_.answers = 1;
  // In place, so that half of the tensor is a result already.
  y_ = x_;
  ExpectComputed(Connect()->Apply(spec_, y_, y_));
  EXPECT_EQ(inference_.streams(), 1);
  EXPECT_EQ(server_.tries(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Codes, SharedMemoryEndTest,
    ::testing::Values(EndCase{"NotFound", grpc::StatusCode::NOT_FOUND},
                      EndCase{"Unimplemented", grpc::StatusCode::UNIMPLEMENTED},
                      EndCase{"FailedPrecondition", grpc::StatusCode::FAILED_PRECONDITION},
                      EndCase{"ResourceExhausted", grpc::StatusCode::RESOURCE_EXHAUSTED},
                      EndCase{"InvalidArgument", grpc::StatusCode::INVALID_ARGUMENT},
                      EndCase{"Unavailable", grpc::StatusCode::UNAVAILABLE},
                      EndCase{"Cancelled", grpc::StatusCode::CANCELLED},
                      EndCase{"Internal", grpc::StatusCode::INTERNAL}),
    [](const auto& info) { return info.param.name; });

struct DistortCase {
  std::string name;
  std::function<void(ModelStreamInferResponse&)> distort;
};
class SharedMemoryAnswerTest : public SharedMemoryTest,
                               public ::testing::WithParamInterface<DistortCase> {};

TEST_P(SharedMemoryAnswerTest, ThatIsNotTheRequestsIsDataLoss) {
  inference_.distort = GetParam().distort;
  EXPECT_TRUE(absl::IsDataLoss(Connect()->Apply(spec_, x_, y_)));
  EXPECT_EQ(server_.tries(), 0);
}

const auto kOutput = [](ModelStreamInferResponse& r) {
  return r.mutable_infer_response()->mutable_outputs(0);
};
INSTANTIATE_TEST_SUITE_P(
    Answers, SharedMemoryAnswerTest,
    ::testing::Values(
        DistortCase{"Id", [](auto& r) { r.mutable_infer_response()->set_id("7"); }},
        DistortCase{"Datatype", [](auto& r) { kOutput(r)->set_datatype("FP64"); }},
        DistortCase{"Name", [](auto& r) { kOutput(r)->set_name("Z"); }},
        DistortCase{"Rank", [](auto& r) { kOutput(r)->add_shape(1); }},
        DistortCase{"Size", [](auto& r) { kOutput(r)->set_shape(0, kOutput(r)->shape(0) - 1); }},
        DistortCase{"NoOutput", [](auto& r) { r.mutable_infer_response()->clear_outputs(); }},
        DistortCase{"TwoOutputs", [](auto& r) { r.mutable_infer_response()->add_outputs(); }},
        DistortCase{
            "InTheMessage",
            [](auto& r) { r.mutable_infer_response()->set_raw_output_contents(0, "elements"); }},
        DistortCase{"ErrorWithin",
                    [](auto& r) {
                      r.clear_infer_response();
                      r.set_error_message("no");
                    }}),
    [](const auto& info) { return info.param.name; });

TEST_F(SharedMemoryTest, AnAnswerThatEndsEarlyIsDataLoss) {
  inference_.answers = 2;
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_),
            absl::DataLossError("the answer ends before the tensor does"));
}

class UnusablePrefixTest : public SharedMemoryTest,
                           public ::testing::WithParamInterface<std::string> {
 protected:
  UnusablePrefixTest() : SharedMemoryTest(GetParam()) {}
};

TEST_P(UnusablePrefixTest, MeansTheConnection) {
  ExpectComputed(Connect()->Apply(spec_, x_, y_));
  EXPECT_EQ(server_.tries(), 1);
}

INSTANTIATE_TEST_SUITE_P(Prefixes, UnusablePrefixTest,
                         ::testing::Values("/a/b", std::string("a\0b", 3), std::string(250, 'a')),
                         [](const auto& info) { return "Prefix" + std::to_string(info.index); });

}  // namespace
}  // namespace trelu::testing
