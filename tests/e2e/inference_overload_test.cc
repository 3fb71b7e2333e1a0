// What requests of the Open Inference face take of the budgets, and for how long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/e2e/gated_server.h"
#include "tests/support/inference_methods.h"
#include "tests/support/shared_object.h"

namespace trelu::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kBudget = 4 << 20;
constexpr std::size_t kRegionBytes = 8 << 20;

server::Options SmallBudgets() {
  server::Options options = GatedOptions();
  options.max_inflight_bytes = kBudget;
  options.shared_memory_prefix = "/trelu_test_";
  options.max_shared_memory_bytes = kRegionBytes;
  return options;
}

// Requests of a budget's size or more by a region, of 3 of its 4 MiB by a message.
class InferenceOverload : public GatedServer {
 protected:
  InferenceOverload() : GatedServer(SmallBudgets()) {
    EXPECT_TRUE(RegisterRegion(client_, "region", object_.key(), kRegionBytes).ok());
  }

  static inference::ModelInferRequest InPlace() {
    auto request = ToInferRequest(Tensor(kRegionBytes));
    PlaceInput(request, "region", kRegionBytes);
    PlaceOutput(request, "region", kRegionBytes);
    return request;
  }
  static inference::ModelInferRequest InMessage() { return ToInferRequest(Tensor(3 << 20)); }
  // From a region into a message, for which the server makes room.
  static inference::ModelInferRequest IntoMessage() {
    auto request = ToInferRequest(Tensor(3 << 20));
    PlaceInput(request, "region", 3 << 20);
    return request;
  }

  std::future<Answer> InferAsync(const inference::ModelInferRequest& request) {
    return std::async(std::launch::async, [this, message = request.SerializeAsString()] {
      return client_.Call(kModelInfer, message);
    });
  }
  grpc::Status Apply(std::size_t bytes) { return client_.Apply(ToRequest(Tensor(bytes))).status; }

  SharedObject object_{kRegionBytes};
};

enum class Elements { kInTheMessage, kIntoTheAnswer };

class InferenceTakes : public InferenceOverload, public ::testing::WithParamInterface<Elements> {
 protected:
  static inference::ModelInferRequest Request() {
    return GetParam() == Elements::kInTheMessage ? InMessage() : IntoMessage();
  }
};

TEST_P(InferenceTakes, ItsMemoryOfTheBudgetUntilTheAnswer) {
  auto answer = InferAsync(Request());
  gate_->WaitForKept(1);
  EXPECT_GT(server_.metrics().Value("trelu_inflight_bytes"), 3 << 20);
  EXPECT_THAT(Apply(2 << 20).error_message(), HasSubstr("--max-inflight-bytes"));
  gate_->Open();
  EXPECT_TRUE(answer.get().status.ok());
  ExpectNothingLeft();
}

TEST_P(InferenceTakes, ItsMemoryOfTheBudgetOnAStreamToo) {
  RawStream stream(client_.channel(), kModelStreamInfer);
  stream.Write(Request().SerializeAsString());
  gate_->WaitForKept(1);
  EXPECT_GT(server_.metrics().Value("trelu_inflight_bytes"), 3 << 20);
  EXPECT_THAT(Apply(2 << 20).error_message(), HasSubstr("--max-inflight-bytes"));
  gate_->Open();
  EXPECT_EQ(ParseStreamed(stream.Read()).error_message(), "");
  // The stream stays open, and holds nothing.
  EXPECT_TRUE(Eventually([&] { return server_.metrics().Value("trelu_inflight_bytes") == 0; }));
  EXPECT_TRUE(Apply(kBudget - 1024).ok());
  stream.Write(Request().SerializeAsString());
  EXPECT_EQ(ParseStreamed(stream.Read()).error_message(), "");
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
}

INSTANTIATE_TEST_SUITE_P(Of, InferenceTakes,
                         ::testing::Values(Elements::kInTheMessage, Elements::kIntoTheAnswer),
                         [](const auto& test) {
                           return test.param == Elements::kInTheMessage ? "AMessage" : "AnAnswer";
                         });

TEST_F(InferenceOverload, WorkOnSharedMemoryTakesNothingFromOthers) {
  auto large = InferAsync(InPlace());
  gate_->WaitForKept(1);
  EXPECT_LT(server_.metrics().Value("trelu_inflight_bytes"), 4096);
  auto small = std::async(std::launch::async, [this] { return Apply(3 << 20); });
  gate_->WaitForKept(2);
  gate_->Open();
  EXPECT_TRUE(large.get().status.ok());
  EXPECT_TRUE(small.get().ok());
  ExpectNothingLeft();
}

TEST_F(InferenceOverload, InputAndOutputBothCount) {
  auto request = ToInferRequest(Tensor(kRegionBytes / 2));
  PlaceInput(request, "region", kRegionBytes / 2);
  PlaceOutput(request, "region", kRegionBytes / 2, kRegionBytes / 2);
  auto first = InferAsync(request);
  gate_->WaitForKept(1);
  auto small = ToInferRequest(Tensor(4096));
  PlaceOutput(small, "region", 4096);
  EXPECT_EQ(client_.Call(kModelInfer, small.SerializeAsString()).status.error_code(),
            grpc::UNAVAILABLE);
  gate_->Open();
  EXPECT_TRUE(first.get().status.ok());
  EXPECT_TRUE(client_.Call(kModelInfer, small.SerializeAsString()).status.ok());
}

TEST_F(InferenceOverload, SharedMemoryIsWorkedOnOnceAtATime) {
  auto first = InferAsync(InPlace());
  gate_->WaitForKept(1);
  const Answer second = client_.Call(kModelInfer, InPlace().SerializeAsString());
  EXPECT_EQ(second.status.error_code(), grpc::UNAVAILABLE);
  EXPECT_THAT(second.status.error_message(), HasSubstr("--max-shared-memory-bytes"));
  EXPECT_EQ(second.trailers.count("grpc-retry-pushback-ms"), 1U);
  RawStream stream(client_.channel(), kModelStreamInfer);
  stream.Write(InPlace().SerializeAsString());
  const auto streamed = ParseStreamed(stream.Read());
  EXPECT_THAT(streamed.error_message(), HasSubstr("--max-shared-memory-bytes"));
  EXPECT_EQ(streamed.infer_response().parameters().at("grpc_status_code").int64_param(),
            grpc::UNAVAILABLE);
  gate_->Open();
  EXPECT_TRUE(first.get().status.ok());
  // And no longer than until the answer, though the stream stays.
  for (int i = 0; i < 2; ++i) {
    stream.Write(InPlace().SerializeAsString());
    EXPECT_EQ(ParseStreamed(stream.Read()).error_message(), "");
    EXPECT_TRUE(client_.Call(kModelInfer, InPlace().SerializeAsString()).status.ok());
  }
}

}  // namespace
}  // namespace trelu::testing
