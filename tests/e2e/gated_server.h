// A server whose workers wait for the test, and what the tests of concurrency ask of it.
#ifndef TRELU_TESTS_E2E_GATED_SERVER_H_
#define TRELU_TESTS_E2E_GATED_SERVER_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/support/gated_executor.h"
#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {

// As TestOptions, with all work on the workers.
inline server::Options GatedOptions() {
  server::Options options = TestOptions();
  options.inline_bytes = 0;
  return options;
}

class GatedServer : public ::testing::Test {
 protected:
  explicit GatedServer(server::Options options = GatedOptions())
      : server_(options, std::make_unique<GatedExecutor>(gate_)), client_(server_.target()) {}
  // A test that failed half-way must not leave work behind the gate: the server waits for it.
  ~GatedServer() override { gate_->Open(); }

  double Handled(const std::string& method, const std::string& code) const {
    const std::string type = method == "Apply" ? "unary" : "bidi_stream";
    return server_.metrics().Value("grpc_server_handled_total{grpc_type=\"" + type +
                                   "\",grpc_service=\"trelu.v1.ThresholdedRelu\",grpc_method=\"" +
                                   method + "\",grpc_code=\"" + code + "\"}");
  }
  double Kernels() const { return server_.metrics().Value("trelu_kernel_seconds_count"); }

  // No call and no byte is in flight any more, and a new call gets the right answer.
  void ExpectNothingLeft() {
    EXPECT_TRUE(Eventually([&] { return server_->calls_in_flight() == 0; }));
    EXPECT_EQ(server_.metrics().Value("trelu_inflight_bytes"), 0);
    ExpectServes(client_);
  }

  // The gate must be open.
  static void ExpectServes(NativeClient& client) {
    const WireTensorCase tensor = {DType::kFloat32, {2}, 1.0F, std::string(8, '\x40')};
    const Answer answer = client.Apply(ToRequest(tensor));
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    EXPECT_TRUE(ParseResponse(answer.message)->Is(tensor, Expected(tensor)));
  }

  // float32, all elements 3.0078125, which pass.
  static WireTensorCase Tensor(std::size_t bytes) {
    return {
        DType::kFloat32, {static_cast<std::int64_t>(bytes / 4)}, 1.0F, std::string(bytes, '\x40')};
  }

  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  InProcessServer server_;
  NativeClient client_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_E2E_GATED_SERVER_H_
