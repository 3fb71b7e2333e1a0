// Requests of which one side lies in shared memory and the other in a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "tests/e2e/gated_server.h"
#include "tests/support/inference_methods.h"
#include "tests/support/shared_object.h"

namespace trelu::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kRegionBytes = std::size_t{16} << 20;
constexpr std::size_t kMessageBytes = std::size_t{24} << 20;

server::Options SharingOptions() {
  server::Options options = GatedOptions();
  options.shared_memory_prefix = "/trelu_test_";
  options.max_message_bytes = kMessageBytes;
  return options;
}

class InferenceSharedSides : public GatedServer {
 protected:
  InferenceSharedSides() : GatedServer(SharingOptions()) {}

  void Register(const std::string& name, const SharedObject& object, std::size_t bytes) {
    const grpc::Status status = RegisterRegion(client_, name, object.key(), bytes);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  grpc::Status Infer(const inference::ModelInferRequest& request) {
    return client_.Call(kModelInfer, request.SerializeAsString()).status;
  }

  static std::size_t ResidentBytes(std::span<std::byte> pages) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident(pages.size() / page);
    EXPECT_EQ(mincore(pages.data(), pages.size(), resident.data()), 0);
    const auto count = std::count_if(resident.begin(), resident.end(),
                                     [](unsigned char c) { return (c & 1) != 0; });
    return static_cast<std::size_t>(count) * page;
  }
};

// What stands in the place of lost memory is the server's own.
TEST_F(InferenceSharedSides, AMessageIsNotComputedIntoALostOutput) {
  const SharedObject out(kRegionBytes);
  Register("out", out, kRegionBytes);
  const std::span<std::byte> mapping = out.Mapping();
  ASSERT_EQ(mapping.size(), kRegionBytes);
  auto request = ToInferRequest(Tensor(kRegionBytes));
  PlaceOutput(request, "out", kRegionBytes);
  auto status = std::async(std::launch::async, [&] { return Infer(request); });
  gate_->WaitForKept(1);
  out.Resize(0);
  gate_->Open();
  const grpc::Status told = status.get();
  EXPECT_EQ(told.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(told.error_message(), HasSubstr("'out'"));
  EXPECT_LT(ResidentBytes(mapping), kRegionBytes / 2);
}

TEST_F(InferenceSharedSides, AnAnswersElementsMayFillAMessageAndNoMore) {
  gate_->Open();
  const SharedObject in(kMessageBytes + 4);
  Register("in", in, kMessageBytes + 4);
  for (const std::size_t bytes : {kMessageBytes, kMessageBytes + 4}) {
    auto request = ToInferRequest({DType::kFloat32, {static_cast<std::int64_t>(bytes / 4)}, 1, ""});
    PlaceInput(request, "in", static_cast<std::int64_t>(bytes));
    const grpc::Status status = Infer(request);
    if (bytes == kMessageBytes) {
      EXPECT_TRUE(status.ok()) << status.error_message();
    } else {
      EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
      EXPECT_THAT(status.error_message(), HasSubstr("--max-message-bytes"));
    }
  }
}

}  // namespace
}  // namespace trelu::testing
