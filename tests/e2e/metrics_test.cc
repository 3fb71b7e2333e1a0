// After traffic that is known, /metrics says exactly that; and the log line of a failed call joins
// the caller's trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/support/in_process_server.h"
#include "tests/support/infer_tensor.h"
#include "tests/support/native_client.h"
#include "tests/support/server_process.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kApplyLabels[] =
    R"(grpc_type="unary",grpc_service="trelu.v1.ThresholdedRelu",grpc_method="Apply")";
constexpr char kStreamLabels[] =
    R"(grpc_type="bidi_stream",grpc_service="trelu.v1.ThresholdedRelu",grpc_method="ApplyStream")";
constexpr char kCheckLabels[] =
    R"(grpc_type="unary",grpc_service="grpc.health.v1.Health",grpc_method="Check")";
constexpr char kInfoLabels[] =
    R"(grpc_type="unary",grpc_service="trelu.v1.Server",grpc_method="GetInfo")";

WireTensorCase Tensor(std::size_t bytes) {
  return {DType::kFloat32, {static_cast<std::int64_t>(bytes / 4)}, 0.0F, std::string(bytes, '\1')};
}

class MetricsOfKnownTraffic : public ::testing::Test {
 protected:
  static constexpr std::size_t kInlineBytes = 4096;
  static server::Options ServerOptions() {
    server::Options options = TestOptions();
    options.inline_bytes = kInlineBytes;
    options.max_message_bytes = 1 << 20;
    options.max_inflight_bytes = 123 << 20;
    return options;
  }

  // 5 small and 2 large tensors, 3 wrong ones and one that is too large; 2 streams, of 3 tensors in
  // 4 messages and of a wrong one; one question after health and one after the server.
  void MakeTraffic() {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(client_.Apply(ToRequest(Tensor(64))).status.ok());
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(client_.Apply(ToRequest(Tensor(kInlineBytes + 4))).status.ok());
    }
    for (int i = 0; i < 3; ++i) {
      v1::ApplyRequest wrong = ToRequest(Tensor(64));
      wrong.mutable_data()->pop_back();
      EXPECT_FALSE(client_.Apply(wrong).status.ok());
    }
    EXPECT_FALSE(client_.Apply(ToRequest(Tensor(1 << 20))).status.ok());

    auto good = client_.OpenStream();
    good->Write(ToRequest(Tensor(64)).SerializeAsString());
    for (const auto& chunk : ToChunks(Tensor(2 * kInlineBytes + 8), kInlineBytes + 4)) {
      good->Write(chunk.SerializeAsString());
    }
    good->Write(ToRequest(Tensor(0)).SerializeAsString());
    good->WritesDone();
    EXPECT_TRUE(good->Finish().ok());
    auto wrong = client_.OpenStream();
    wrong->WritesDone();
    EXPECT_FALSE(wrong->Finish().ok());

    grpc::health::v1::HealthCheckRequest check;
    EXPECT_TRUE(
        client_.Call("/grpc.health.v1.Health/Check", check.SerializeAsString()).status.ok());
    EXPECT_TRUE(client_.Call("/trelu.v1.Server/GetInfo", "").status.ok());
    EXPECT_TRUE(Eventually([this] { return server_->calls_in_flight() == 0; }));
  }

  InProcessServer server_{ServerOptions()};
  NativeClient client_{server_.target()};
};

std::string With(const std::string& name, const std::string& labels) {
  return name + "{" + labels + "}";
}

TEST_F(MetricsOfKnownTraffic, AreExact) {
  MakeTraffic();
  const MetricsPage page = server_.metrics();
  const std::string apply = kApplyLabels;
  const std::string stream = kStreamLabels;
  const struct {
    std::string series;
    double value;
  } expected[] = {
      {With("grpc_server_started_total", apply), 11},
      {With("grpc_server_handled_total", apply + R"(,grpc_code="OK")"), 7},
      {With("grpc_server_handled_total", apply + R"(,grpc_code="InvalidArgument")"), 3},
      {With("grpc_server_handled_total", apply + R"(,grpc_code="ResourceExhausted")"), 1},
      {With("grpc_server_handling_seconds_count", apply), 11},
      {With("grpc_server_started_total", stream), 2},
      {With("grpc_server_handled_total", stream + R"(,grpc_code="OK")"), 1},
      {With("grpc_server_handled_total", stream + R"(,grpc_code="InvalidArgument")"), 1},
      {With("grpc_server_handling_seconds_count", stream), 2},
      {With("grpc_server_started_total", kCheckLabels), 1},
      {With("grpc_server_handled_total", kCheckLabels + std::string(R"(,grpc_code="OK")")), 1},
      {With("grpc_server_started_total", kInfoLabels), 1},
      {With("grpc_server_handled_total", kInfoLabels + std::string(R"(,grpc_code="OK")")), 1},
      // 7 unary and 3 messages of the stream; of both the ones above 4 KiB waited for a worker.
      {"trelu_kernel_seconds_count", 10},
      {"trelu_queue_seconds_count", 4},
      // What came, wrong ones included, but not the one that was too large to be looked at.
      {"trelu_request_bytes_count", 14},
      {"trelu_request_bytes_sum",
       5 * 64 + 2 * (kInlineBytes + 4) + 3 * 63 + 64 + 2 * kInlineBytes + 8 + 0},
      // Of those that were answered with a tensor.
      {"trelu_response_bytes_total", 5 * 64 + 2 * (kInlineBytes + 4) + 64 + 2 * kInlineBytes + 8},
      {R"(trelu_rejected_total{reason="invalid"})", 4},
      {R"(trelu_rejected_total{reason="too_large"})", 1},
      {R"(trelu_rejected_total{reason="over_budget"})", 0},
      {R"(trelu_rejected_total{reason="draining"})", 0},
      {R"(trelu_rejected_total{reason="deadline"})", 0},
      {R"(trelu_rejected_total{reason="cancelled"})", 0},
      {R"(trelu_rejected_total{reason="idle"})", 0},
      {"trelu_inflight_bytes", 0},
      {"trelu_inflight_calls", 0},
      {"trelu_inflight_limit_bytes", 123 << 20},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_TRUE(page.Has(series)) << series;
    EXPECT_EQ(page.Value(series), value) << series;
  }
  EXPECT_NE(page.text().find("trelu_build_info{version=\""), std::string::npos);
  EXPECT_TRUE(page.Has("process_resident_memory_bytes"));
  EXPECT_TRUE(page.Has("process_open_fds"));
  EXPECT_GT(page.Value(With("grpc_server_handling_seconds_sum", apply)), 0);
  EXPECT_GT(page.Value(R"(trelu_queue_busy_seconds_total{queue="0"})"), 0);
}

TEST_F(MetricsOfKnownTraffic, PassPromtool) {
  MakeTraffic();
  FILE* promtool = popen(PROMTOOL " check metrics", "w");
  ASSERT_NE(promtool, nullptr);
  const std::string text = server_.metrics().text();
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), promtool), text.size());
  EXPECT_EQ(pclose(promtool), 0);
}

TEST_F(MetricsOfKnownTraffic, NoLabelComesFromAClient) {
  const auto series = [this] {
    std::size_t lines = 0;
    std::istringstream text(server_.metrics().text());
    for (std::string line; std::getline(text, line);) ++lines;
    return lines;
  };
  MakeTraffic();
  const std::size_t before = series();
  for (int i = 0; i < 50; ++i) {
    const std::string name = "evil" + std::to_string(i);
    client_.Call("/" + name + "/" + name, "");
    client_.Call("/trelu.v1.ThresholdedRelu/" + name, name);
  }
  EXPECT_EQ(server_.metrics().text().find("evil"), std::string::npos);
  EXPECT_EQ(series(), before);
}

constexpr char kTrace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// Makes a failed call with a trace, and gives the log's line about it.
std::string LogLineOfFailedCall(const std::string& format) {
  ServerProcess server(
      {"--listen", "127.0.0.1:0", "--admin-listen", "none", "--log-format", format});
  if (!server.WaitUntilReady()) return "not ready: " + server.err();
  NativeClient client(server.target());
  v1::ApplyRequest wrong = ToRequest(Tensor(64));
  wrong.mutable_tensor()->set_shape(0, -4);
  client.Apply(wrong,
               [](grpc::ClientContext& context) { context.AddMetadata("traceparent", kTrace); });
  if (!server.WaitForError("\n") || !server.WaitForError(kTrace)) return "no line: " + server.err();
  std::istringstream lines(server.err());
  for (std::string line; std::getline(lines, line);) {
    if (line.find(kTrace) != std::string::npos) return line;
  }
  return {};
}

TEST(LogOfAFailedCall, NamesTheTraceInText) {
  const std::string line = LogLineOfFailedCall("text");
  for (const std::string part :
       {" warn  call failed ", "method=trelu.v1.ThresholdedRelu/Apply", "code=INVALID_ARGUMENT",
        "reason=\"tensor.shape[0] = -4: must be >= 0\"", "peer=ipv4:127.0.0.1:", "bytes=64",
        "seconds="}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
  EXPECT_NE(line.find(std::string("traceparent=") + kTrace), std::string::npos) << line;
}

TEST(LogOfAFailedCall, NamesTheTraceInJson) {
  const std::string line = LogLineOfFailedCall("json");
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(json.is_discarded()) << line;
  EXPECT_EQ(json.value("level", ""), "warn");
  EXPECT_EQ(json.value("message", ""), "call failed");
  EXPECT_EQ(json.value("method", ""), "trelu.v1.ThresholdedRelu/Apply");
  EXPECT_EQ(json.value("code", ""), "INVALID_ARGUMENT");
  EXPECT_EQ(json.value("reason", ""), "tensor.shape[0] = -4: must be >= 0");
  EXPECT_EQ(json.value("traceparent", ""), kTrace);
  EXPECT_EQ(json.value("bytes", 0), 64);
}

TEST(LogOfAFailedRequest, NamesTheCallThatGoesOn) {
  ServerProcess server({"--listen", "127.0.0.1:0", "--admin-listen", "none"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  NativeClient client(server.target());
  RawStream stream(client.channel(), kModelStreamInfer);
  auto wrong = ToInferRequest(Tensor(64), "seven");
  wrong.set_model_name("none");
  stream.Write(wrong.SerializeAsString());
  ASSERT_TRUE(server.WaitForError("traceparent=")) << server.err();
  for (const char* part :
       {" warn  request failed method=inference.GRPCInferenceService/ModelStreamInfer "
        "code=NOT_FOUND reason=\"model 'none': unknown\"",
        " request=seven peer=ipv4:127.0.0.1:"}) {
    EXPECT_THAT(server.err(), HasSubstr(part));
  }
  EXPECT_THAT(server.err(), Not(HasSubstr("call failed")));
  stream.WritesDone();
  EXPECT_TRUE(stream.Finish().ok());
}

// Also what the libraries have to say, and however often clients make them say it.
TEST(LogOfAFailedCall, EveryLineIsOursAndAFloodIsHeldBack) {
  ServerProcess server(
      {"--listen", "127.0.0.1:0", "--admin-listen", "none", "--log-format", "json"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  NativeClient client(server.target());
  constexpr int kCalls = 300;
  for (int i = 0; i < kCalls; ++i) {
    client.Call("/grpc.health.v1.Health/Check", "\x0a\x02\xff\xfe");
    client.Apply(ToRequest(Tensor(4096)), [](grpc::ClientContext& context) {
      context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    });
  }
  ASSERT_TRUE(server.WaitForError("malformed HealthCheckRequest")) << server.err();
  int lines = 0;
  std::istringstream log(server.err());
  for (std::string line; std::getline(log, line); ++lines) {
    EXPECT_FALSE(nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false).is_discarded())
        << line;
  }
  // One a second for each of three reasons, however slow the machine.
  EXPECT_LT(lines, kCalls);
}

}  // namespace
}  // namespace trelu::testing
