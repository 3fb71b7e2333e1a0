// A real server that shares memory and a client library on the same host.
#ifndef TRELU_TESTS_E2E_SHARED_MEMORY_CLIENT_H_
#define TRELU_TESTS_E2E_SHARED_MEMORY_CLIENT_H_

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/open_inference.grpc.pb.h"
#include "tests/core/scalar_oracle.h"
#include "tests/support/gated_executor.h"
#include "tests/support/in_process_server.h"
#include "tests/support/shared_object.h"
#include "trelu/client.h"

namespace trelu::testing {

using Bytes = std::vector<std::byte>;

inline constexpr float kAlpha = -0.5F;

inline TensorSpec Spec(DType dtype, std::size_t elements) {
  return TensorSpec::Create(dtype, std::vector<std::int64_t>{static_cast<std::int64_t>(elements)})
      .value();
}

// Names of objects that this test's server takes, and no other's.
inline std::string NewPrefix() { return SharedObject::NextKey() + "_"; }

inline std::vector<std::string> ObjectsOf(const std::string& prefix) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = "/" + entry.path().filename().string();
    if (name.starts_with(prefix)) found.push_back(name);
  }
  return found;
}

// How many regions the server knows.
inline int RegionsAt(const std::string& target) {
  auto stub = inference::GRPCInferenceService::NewStub(
      grpc::CreateChannel(target, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  inference::SystemSharedMemoryStatusResponse response;
  EXPECT_TRUE(stub->SystemSharedMemoryStatus(&context, {}, &response).ok());
  return response.regions_size();
}

inline std::unique_ptr<Client> Connect(const std::string& target) {
  return Client::Create({.target = target}).value();
}

inline absl::Status ApplyAsync(Client& client, const TensorSpec& spec, std::span<const std::byte> x,
                               std::span<std::byte> y) {
  std::promise<absl::Status> status;
  client.ApplyAsync(spec, x, y, {.alpha = kAlpha},
                    [&](absl::Status s) { status.set_value(std::move(s)); });
  return status.get_future().get();
}

class SharedMemoryClient : public ::testing::Test {
 protected:
  explicit SharedMemoryClient(bool gated = false) {
    server::Options options = TestOptions();
    options.shared_memory_prefix = prefix_;
    std::unique_ptr<Executor> workers;
    if (gated) {
      options.inline_bytes = 0;
      workers = std::make_unique<GatedExecutor>(gate_);
    }
    server_.emplace(options, std::move(workers));
    client_ = Connect(server_->target());
  }
  ~SharedMemoryClient() override {
    gate_->Open();
    client_.reset();
    EXPECT_THAT(ObjectsOf(prefix_), ::testing::IsEmpty());
  }

  double Calls(const std::string& method) const {
    const std::string type = method == "Apply" ? "unary" : "bidi_stream";
    const std::string service = method == "ModelStreamInfer" ? "inference.GRPCInferenceService"
                                                             : "trelu.v1.ThresholdedRelu";
    return server_->metrics().Value("grpc_server_started_total{grpc_type=\"" + type +
                                    "\",grpc_service=\"" + service + "\",grpc_method=\"" + method +
                                    "\"}");
  }
  void ExpectAllCallsShared(int count) const {
    EXPECT_EQ(Calls("ModelStreamInfer"), count);
    EXPECT_EQ(Calls("Apply") + Calls("ApplyStream"), 0);
  }
  int Regions() const { return RegionsAt(server_->target()); }

  const std::string prefix_ = NewPrefix();
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::optional<InProcessServer> server_;
  std::unique_ptr<Client> client_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_E2E_SHARED_MEMORY_CLIENT_H_
