// The Open Inference face over the wire: every published vector, raw and typed, unary and streamed,
// and what a stream makes of wrong requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <string>
#include <vector>

#include "tests/e2e/gated_server.h"
#include "tests/support/conformance.h"
#include "tests/support/infer_tensor.h"

namespace trelu::testing {
namespace {

using ::testing::HasSubstr;

std::string ToString(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Place {
  const char* name;
  std::uint64_t inline_bytes;
};

class InferenceOfTheVectors : public ::testing::TestWithParam<Place> {
 protected:
  static server::Options ServerOptions() {
    server::Options options = TestOptions();
    options.inline_bytes = GetParam().inline_bytes;
    return options;
  }

  // Calls `check` with each published vector's request and answer.
  template <typename Check>
  static void ForEach(const Check& check) {
    const auto cases = LoadEdgeCases();
    ASSERT_EQ(cases.size(), 1054U);
    for (const ConformanceCase& one : cases) {
      const WireTensorCase tensor = {one.dtype, one.shape, one.alpha, ToString(one.input)};
      check(one.name, ToInferRequest(tensor, one.name), ToString(one.output));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  InProcessServer server_{ServerOptions()};
  NativeClient client_{server_.target()};
};

TEST_P(InferenceOfTheVectors, Unary) {
  ForEach([&](const std::string& name, const auto& request, const std::string& expected) {
    const Answer answer = client_.Call(kModelInfer, request.SerializeAsString());
    ASSERT_TRUE(answer.status.ok()) << name << ": " << answer.status.error_message();
    ASSERT_TRUE(IsInferAnswer(answer.message, request, expected)) << name;
  });
}

TEST_P(InferenceOfTheVectors, OneStream) {
  RawStream stream(client_.channel(), kModelStreamInfer);
  ForEach([&](const std::string& name, const auto& request, const std::string& expected) {
    ASSERT_TRUE(stream.Write(request.SerializeAsString()));
    auto response = ParseStreamed(stream.Read());
    ASSERT_EQ(response.error_message(), "") << name;
    ASSERT_TRUE(response.infer_response().parameters().at("triton_final_response").bool_param());
    ASSERT_TRUE(IsInferAnswer(response.infer_response().SerializeAsString(), request, expected))
        << name;
  });
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_P(InferenceOfTheVectors, TypedContents) {
  ForEach([&](const std::string& name, auto request, const std::string& expected) {
    auto& input = *request.mutable_inputs(0);
    const std::string raw = request.raw_input_contents(0);
    request.clear_raw_input_contents();
    // Of no elements there is no first one to copy to.
    if (input.datatype() == "FP32") {
      auto& to = *input.mutable_contents()->mutable_fp32_contents();
      to.Resize(static_cast<int>(raw.size() / 4), 0);
      if (!raw.empty()) std::memcpy(to.mutable_data(), raw.data(), raw.size());
    } else if (input.datatype() == "FP64") {
      auto& to = *input.mutable_contents()->mutable_fp64_contents();
      to.Resize(static_cast<int>(raw.size() / 8), 0);
      if (!raw.empty()) std::memcpy(to.mutable_data(), raw.data(), raw.size());
    } else {
      return;
    }
    const Answer answer = client_.Call(kModelInfer, request.SerializeAsString());
    ASSERT_TRUE(answer.status.ok()) << name << ": " << answer.status.error_message();
    ASSERT_TRUE(IsInferAnswer(answer.message, request, expected)) << name;
  });
}

INSTANTIATE_TEST_SUITE_P(Computed, InferenceOfTheVectors,
                         ::testing::Values(Place{"OnTheQueue", std::uint64_t{1} << 40},
                                           Place{"ByTheWorkers", 0}),
                         [](const auto& info) { return std::string(info.param.name); });

class InferenceStream : public GatedServer {
 protected:
  InferenceStream() { gate_->Open(); }

  static Prepare With(const char* key, const char* value) {
    return [=](grpc::ClientContext& context) { context.AddMetadata(key, value); };
  }
};

TEST_F(InferenceStream, AnErrorIsAnAnswerAndTheStreamGoesOn) {
  RawStream stream(client_.channel(), kModelStreamInfer);
  const WireTensorCase tensor = Tensor(64);
  auto wrong = ToInferRequest(tensor, "second");
  wrong.mutable_inputs(0)->set_datatype("INT8");
  stream.Write(ToInferRequest(tensor, "first").SerializeAsString());
  stream.Write(wrong.SerializeAsString());
  stream.Write("\xff\xff");
  stream.Write(ToInferRequest(tensor, "fourth").SerializeAsString());

  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "first");
  auto failed = ParseStreamed(stream.Read());
  EXPECT_THAT(failed.error_message(), HasSubstr("request 'second': "));
  EXPECT_THAT(failed.error_message(), HasSubstr("INT8"));
  EXPECT_EQ(failed.infer_response().id(), "second");
  EXPECT_EQ(failed.infer_response().model_name(), "thresholded_relu");
  EXPECT_EQ(failed.infer_response().model_version(), "1");
  EXPECT_EQ(failed.infer_response().outputs_size(), 0);
  EXPECT_EQ(failed.infer_response().parameters().at("grpc_status_code").int64_param(),
            grpc::INVALID_ARGUMENT);
  EXPECT_TRUE(failed.infer_response().parameters().at("triton_final_response").bool_param());
  // Bytes that are no request have no id and no model, and not the last one's either.
  failed = ParseStreamed(stream.Read());
  EXPECT_THAT(failed.error_message(), HasSubstr("malformed ModelInferRequest"));
  EXPECT_EQ(failed.infer_response().id(), "");
  EXPECT_EQ(failed.infer_response().model_name(), "");
  EXPECT_TRUE(failed.infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "fourth");
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(server_.metrics().Value("trelu_rejected_total{reason=\"invalid\"}"), 2);
  EXPECT_EQ(server_.metrics().Value("trelu_response_bytes_total"), 2 * 64);
  ExpectNothingLeft();
}

TEST_F(InferenceStream, AMessageOverTheLimitIsAnAnswerWithoutAnotherOnesId) {
  server::Options options = GatedOptions();
  options.max_message_bytes = 1 << 10;
  InProcessServer server(options);
  NativeClient client(server.target());
  RawStream stream(client.channel(), kModelStreamInfer);
  stream.Write(ToInferRequest(Tensor(64), "small").SerializeAsString());
  stream.Write(ToInferRequest(Tensor(4096), "large").SerializeAsString());
  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "small");
  const auto failed = ParseStreamed(stream.Read());
  EXPECT_THAT(failed.error_message(), HasSubstr("--max-message-bytes"));
  EXPECT_EQ(failed.infer_response().id(), "");
  EXPECT_EQ(failed.infer_response().parameters().at("grpc_status_code").int64_param(),
            grpc::RESOURCE_EXHAUSTED);
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(InferenceStream, EndsWithTheFirstErrorWhereTheCallerWantsThat) {
  RawStream stream(client_.channel(), kModelStreamInfer, With("triton_grpc_error", "true"));
  auto wrong = ToInferRequest(Tensor(64));
  wrong.set_model_name("none");
  stream.Write(ToInferRequest(Tensor(64), "first").SerializeAsString());
  stream.Write(wrong.SerializeAsString());
  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "first");
  EXPECT_FALSE(stream.Read().has_value());
  EXPECT_EQ(stream.Finish().error_code(), grpc::NOT_FOUND);
  ExpectNothingLeft();
}

TEST_F(InferenceStream, GoesOnWhereTheCallerSaysThatItShould) {
  RawStream stream(client_.channel(), kModelStreamInfer, With("triton_grpc_error", "false"));
  auto wrong = ToInferRequest(Tensor(64), "wrong");
  wrong.set_model_name("none");
  stream.Write(wrong.SerializeAsString());
  stream.Write(ToInferRequest(Tensor(64), "right").SerializeAsString());
  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "wrong");
  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "right");
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(InferenceStream, EndsWellWithoutAnyRequest) {
  RawStream stream(client_.channel(), kModelStreamInfer);
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(InferenceStream, WithNothingOutstandingIsEndedByADrain) {
  server::Options options = GatedOptions();
  options.drain_grace = std::chrono::minutes(10);
  InProcessServer server(options);
  NativeClient client(server.target());
  RawStream stream(client.channel(), kModelStreamInfer);
  stream.Write(ToInferRequest(Tensor(64), "first").SerializeAsString());
  EXPECT_EQ(ParseStreamed(stream.Read()).infer_response().id(), "first");
  auto drained = std::async(std::launch::async, [&] { server->Drain(); });
  EXPECT_EQ(stream.Finish().error_code(), grpc::UNAVAILABLE);
  drained.get();
}

class InferenceTimeout : public GatedServer {};

// Work that no worker has taken up when the request's own time is over is not done.
TEST_F(InferenceTimeout, IsHonouredLikeADeadline) {
  auto request = ToInferRequest(Tensor(4096));
  (*request.mutable_parameters())["timeout"].set_int64_param(100'000);
  auto answer = std::async(std::launch::async,
                           [&] { return client_.Call(kModelInfer, request.SerializeAsString()); });
  gate_->WaitForKept(1);
  EXPECT_TRUE(
      Eventually([past = std::chrono::system_clock::now() + std::chrono::milliseconds(200)] {
        return std::chrono::system_clock::now() > past;
      }));
  gate_->Open();
  EXPECT_EQ(answer.get().status.error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_EQ(Kernels(), 0);
  // One that ends after the call's deadline changes nothing, however late.
  (*request.mutable_parameters())["timeout"].set_int64_param(
      std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(client_.Call(kModelInfer, request.SerializeAsString()).status.ok());
  ExpectNothingLeft();
}

}  // namespace
}  // namespace trelu::testing
