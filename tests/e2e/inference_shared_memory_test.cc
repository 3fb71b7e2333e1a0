// Tensors in shared memory: in, out, both, in place, and what others may do to the memory
// meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <optional>
#include <random>
#include <string>

#include "tests/e2e/gated_server.h"
#include "tests/support/inference_methods.h"
#include "tests/support/shared_object.h"

namespace trelu::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kRegionBytes = std::size_t{4} << 20;

server::Options OptionsWithSharedMemory() {
  server::Options options = GatedOptions();
  options.shared_memory_prefix = "/trelu_test_";
  return options;
}

class InferenceInSharedMemory : public GatedServer {
 protected:
  InferenceInSharedMemory() : GatedServer(OptionsWithSharedMemory()) { gate_->Open(); }

  grpc::Status Register(const std::string& name, const SharedObject& object,
                        std::uint64_t bytes = kRegionBytes, std::uint64_t offset = 0) {
    return RegisterRegion(client_, name, object.key(), bytes, offset);
  }
  grpc::Status Unregister(const std::string& name) {
    inference::SystemSharedMemoryUnregisterRequest request;
    request.set_name(name);
    return client_
        .Call(InferenceMethod("SystemSharedMemoryUnregister"), request.SerializeAsString())
        .status;
  }
  Answer Infer(const inference::ModelInferRequest& request) {
    return client_.Call(kModelInfer, request.SerializeAsString());
  }

  static std::string Bytes(const SharedObject& object, std::size_t offset, std::size_t bytes) {
    const auto read = object.Read<char>(offset, bytes);
    return {read.begin(), read.end()};
  }

  SharedObject in_{kRegionBytes};
  SharedObject out_{kRegionBytes};
};

// Offsets are odd, so that elements lie as badly as they can.
TEST_F(InferenceInSharedMemory, EveryWayGivesTheSameBytes) {
  ASSERT_TRUE(Register("in", in_, kRegionBytes - 7, 7).ok());
  ASSERT_TRUE(Register("out", out_).ok());
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const WireTensorCase tensor = RandomTensor(random, 1 << 20);
    const std::string expected = Expected(tensor);
    const auto bytes = static_cast<std::int64_t>(tensor.data.size());
    SCOPED_TRACE(round);

    in_.Write(7 + 3, tensor.data.data(), tensor.data.size());
    auto request = ToInferRequest(tensor);
    PlaceInput(request, "in", bytes, 3);
    Answer answer = Infer(request);
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    ASSERT_TRUE(IsInferAnswer(answer.message, request, expected));
    ASSERT_EQ(Bytes(in_, 10, tensor.data.size()), tensor.data) << "the input was written to";

    PlaceOutput(request, "out", static_cast<std::int64_t>(kRegionBytes) - 5, 5);
    answer = Infer(request);
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    ASSERT_TRUE(IsInferAnswer(answer.message, request, ""));
    ASSERT_EQ(Bytes(out_, 5, tensor.data.size()), expected);

    request = ToInferRequest(tensor);
    PlaceOutput(request, "out", bytes, 1);
    ASSERT_TRUE(Infer(request).status.ok());
    ASSERT_EQ(Bytes(out_, 1, tensor.data.size()), expected);

    PlaceInput(request, "in", bytes, 3);
    request.clear_outputs();
    PlaceOutput(request, "in", bytes, 3);
    ASSERT_TRUE(Infer(request).status.ok());
    ASSERT_EQ(Bytes(in_, 10, tensor.data.size()), expected);
  }
  ExpectNothingLeft();
}

TEST_F(InferenceInSharedMemory, MetricsCountThePayloadOfMessagesAlone) {
  ASSERT_TRUE(Register("in", in_).ok());
  const WireTensorCase tensor = Tensor(64);
  auto request = ToInferRequest(tensor);
  PlaceInput(request, "in", 64, 0);
  ASSERT_TRUE(Infer(request).status.ok());
  MetricsPage page = server_.metrics();
  EXPECT_EQ(page.Value("trelu_request_bytes_sum"), 0);
  EXPECT_EQ(page.Value("trelu_response_bytes_total"), 64);

  request = ToInferRequest(tensor);
  PlaceOutput(request, "in", 64, 0);
  ASSERT_TRUE(Infer(request).status.ok());
  page = server_.metrics();
  EXPECT_EQ(page.Value("trelu_request_bytes_sum"), 64);
  EXPECT_EQ(page.Value("trelu_response_bytes_total"), 64);
}

TEST_F(InferenceInSharedMemory, PartialOverlapIsRefusedHoweverItIsNamed) {
  ASSERT_TRUE(Register("one", in_).ok());
  ASSERT_TRUE(Register("two", in_, kRegionBytes - 4096, 4096).ok());
  const WireTensorCase tensor = Tensor(8192);
  const struct {
    const char* output;
    std::int64_t offset;
    bool ok;
  } cases[] = {{"one", 0, true},  {"one", 4, false},   {"one", 8192, true},
               {"two", 0, false}, {"two", 4096, true}, {"one", 8188, false}};
  for (const auto& [output, offset, ok] : cases) {
    auto request = ToInferRequest(tensor);
    PlaceInput(request, "one", 8192);
    PlaceOutput(request, output, 8192, offset);
    const grpc::Status status = Infer(request).status;
    EXPECT_EQ(status.ok(), ok) << output << " at " << offset << ": " << status.error_message();
    if (!ok) {
      EXPECT_THAT(status.error_message(), HasSubstr("overlaps"));
    }
  }
}

TEST_F(InferenceInSharedMemory, AnObjectThatShrinksFailsItsRequestAndNoOther) {
  ASSERT_TRUE(Register("in", in_).ok());
  const WireTensorCase tensor = Tensor(kRegionBytes);
  auto request = ToInferRequest(tensor);
  PlaceInput(request, "in", kRegionBytes);
  PlaceOutput(request, "in", kRegionBytes);
  gate_->Close();
  auto answer = std::async(std::launch::async, [&] { return Infer(request); });
  gate_->WaitForKept(1);
  in_.Resize(4096);
  gate_->Open();
  const grpc::Status status = answer.get().status;
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("'in'"));
  EXPECT_THAT(status.error_message(), ::testing::Not(HasSubstr("trelu_test")));
  // It stays lost until it is registered anew.
  EXPECT_EQ(Infer(request).status.error_code(), grpc::FAILED_PRECONDITION);
  in_.Resize(kRegionBytes);
  ASSERT_TRUE(Unregister("in").ok());
  ASSERT_TRUE(Register("in", in_).ok());
  EXPECT_TRUE(Infer(request).status.ok());
  ExpectNothingLeft();
}

// Of memory that the process has for itself, in bytes (proc_pid_status(5)).
std::size_t OwnMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoul(line.substr(8)) << 10;
  }
  return 0;
}

TEST_F(InferenceInSharedMemory, ALostOutputIsNotComputedIntoTheServersOwnMemory) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  in_.Resize(kBytes);
  out_.Resize(kBytes);
  ASSERT_TRUE(Register("in", in_, kBytes).ok());
  ASSERT_TRUE(Register("out", out_, kBytes).ok());
  auto request = ToInferRequest({DType::kFloat32, {kBytes / 4}, -1.0F, ""});
  PlaceInput(request, "in", kBytes);
  PlaceOutput(request, "out", kBytes);
  gate_->Close();
  auto answer = std::async(std::launch::async, [&] { return Infer(request); });
  gate_->WaitForKept(1);
  out_.Resize(0);
  const std::size_t before = OwnMemory();
  gate_->Open();
  const grpc::Status status = answer.get().status;
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("'out'"));
  EXPECT_LT(OwnMemory(), before + (std::size_t{64} << 20));
}

TEST_F(InferenceInSharedMemory, ARegionMayBeUnregisteredWhileItIsUsed) {
  ASSERT_TRUE(Register("in", in_).ok());
  const WireTensorCase tensor = Tensor(kRegionBytes);
  in_.Write(0, tensor.data.data(), tensor.data.size());
  auto request = ToInferRequest(tensor);
  PlaceInput(request, "in", kRegionBytes);
  PlaceOutput(request, "in", kRegionBytes);
  gate_->Close();
  auto answer = std::async(std::launch::async, [&] { return Infer(request); });
  gate_->WaitForKept(1);
  ASSERT_TRUE(Unregister("in").ok());
  in_.Unlink();
  gate_->Open();
  EXPECT_TRUE(answer.get().status.ok());
  EXPECT_EQ(Bytes(in_, 0, kRegionBytes), Expected(tensor));
  EXPECT_EQ(Infer(request).status.error_code(), grpc::NOT_FOUND);
}

TEST_F(InferenceInSharedMemory, RegionsOfClientsThatAreGoneGoToo) {
  ASSERT_TRUE(Register("in", in_).ok());
  std::optional<SharedObject> left(kRegionBytes);
  ASSERT_TRUE(Register("left", *left).ok());
  MetricsPage page = server_.metrics();
  EXPECT_EQ(page.Value("trelu_shared_memory_regions"), 2);
  EXPECT_EQ(page.Value("trelu_shared_memory_bytes"), 2 * kRegionBytes);
  left.reset();
  ASSERT_TRUE(
      Eventually([&] { return server_.metrics().Value("trelu_shared_memory_regions") == 1; }));
  auto request = ToInferRequest(Tensor(64));
  PlaceInput(request, "in", 64, 0);
  EXPECT_TRUE(Infer(request).status.ok());
}

// A small request must not make the server allocate a large answer.
TEST_F(InferenceInSharedMemory, AnAnswerOverTheLimitOfAMessageIsRefused) {
  server::Options options = OptionsWithSharedMemory();
  options.max_message_bytes = 1 << 20;
  InProcessServer server(options);
  NativeClient client(server.target());
  ASSERT_TRUE(RegisterRegion(client, "in", in_.key(), kRegionBytes).ok());
  auto request = ToInferRequest(Tensor(kRegionBytes));
  PlaceInput(request, "in", kRegionBytes);
  EXPECT_EQ(client.Call(kModelInfer, request.SerializeAsString()).status.error_code(),
            grpc::RESOURCE_EXHAUSTED);
  RawStream stream(client.channel(), kModelStreamInfer);
  stream.Write(request.SerializeAsString());
  EXPECT_THAT(ParseStreamed(stream.Read()).error_message(), HasSubstr("--max-message-bytes"));
  PlaceOutput(request, "in", kRegionBytes);
  stream.Write(request.SerializeAsString());
  EXPECT_EQ(ParseStreamed(stream.Read()).error_message(), "");
}

TEST(InferenceWithoutSharedMemory, IsRefusedNamingTheFlag) {
  InProcessServer server;
  NativeClient client(server.target());
  const grpc::Status status = RegisterRegion(client, "in", "/trelu_test_none", 1);
  EXPECT_EQ(status.error_code(), grpc::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("--shared-memory-prefix"));
}

}  // namespace
}  // namespace trelu::testing
