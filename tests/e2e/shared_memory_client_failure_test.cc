// What stands in the way of shared memory costs a caller nothing but time.
#include "tests/e2e/shared_memory_client.h"

#include <csignal>

#include "tests/support/no_more_threads.h"
#include "tests/support/server_process.h"

namespace trelu::testing {
namespace {

using ::testing::IsEmpty;

TEST_F(SharedMemoryClient, RegionsThatSomebodyElseUnregisteredAreReplaced) {
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), 1);
  const Bytes expected = Expected(DType::kFloat32, kAlpha, x);
  const auto buffer = client_->NewSharedBuffer(spec.bytes()).value();
  const auto apply = [&](std::span<std::byte> y) {
    std::ranges::fill(y, std::byte{1});
    ASSERT_EQ(client_->Apply(spec, x, y, {.alpha = kAlpha}), absl::OkStatus());
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size()), 0);
  };
  Bytes y(x.size());
  apply(y);
  grpc::ClientContext context;
  inference::SystemSharedMemoryUnregisterResponse response;
  ASSERT_TRUE(inference::GRPCInferenceService::NewStub(
                  grpc::CreateChannel(server_->target(), grpc::InsecureChannelCredentials()))
                  ->SystemSharedMemoryUnregister(&context, {}, &response)
                  .ok());
  apply(y);
  EXPECT_EQ(Calls("Apply"), 1);
  apply(y);
  EXPECT_EQ(Calls("Apply"), 1);
  EXPECT_EQ(Regions(), 1);
  apply(buffer->bytes());
  EXPECT_EQ(Calls("Apply"), 2);
  EXPECT_FALSE(buffer->shared());
  apply(buffer->bytes());
  EXPECT_EQ(Calls("Apply"), 2);  // by copying, through the pool's region
}

TEST_F(SharedMemoryClient, ABufferThatGoesWhenThereIsNoThreadIsUnregisteredWithTheClient) {
  auto buffer = client_->NewSharedBuffer(1000).value();
  ASSERT_TRUE(buffer->shared());
  {
    const NoMoreThreads none;
    buffer.reset();
  }
  client_.reset();
  EXPECT_EQ(Regions(), 0);
}

class GatedSharedMemoryClient : public SharedMemoryClient {
 protected:
  GatedSharedMemoryClient() : SharedMemoryClient(/*gated=*/true) {}
};

TEST_F(GatedSharedMemoryClient, ARegionThatMayStillBeWrittenIsNotUsedAgain) {
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), 1);
  Bytes y(x.size());
  std::promise<absl::Status> late;
  client_->ApplyAsync(spec, x, y, {.alpha = kAlpha, .timeout = std::chrono::milliseconds(500)},
                      [&](absl::Status status) { late.set_value(std::move(status)); });
  gate_->WaitForKept(1);
  EXPECT_EQ(Regions(), 1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.get_future().get()));
  EXPECT_TRUE(Eventually([&] { return Regions() == 0; }));
  gate_->Open();
  ASSERT_EQ(client_->Apply(spec, x, y, {.alpha = kAlpha}), absl::OkStatus());
  EXPECT_EQ(y, Expected(DType::kFloat32, kAlpha, x));
  EXPECT_EQ(Regions(), 1);
}

TEST_F(GatedSharedMemoryClient, ABurstOfCallsMakesNoMoreRegionsThanThePoolMay) {
  constexpr std::size_t kCalls = 100;
  constexpr int kMostRegions = 32;
  const TensorSpec spec = Spec(DType::kFloat32, 70'000);
  const Bytes x(spec.bytes());
  std::vector<Bytes> ys(kCalls, Bytes(spec.bytes()));
  std::vector<std::promise<absl::Status>> ends(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    client_->ApplyAsync(spec, x, ys[i], {.alpha = kAlpha},
                        [&ends, i](absl::Status status) { ends[i].set_value(std::move(status)); });
  }
  gate_->WaitForKept(kCalls);
  // Fewer when the machine is so busy that a registration takes a second.
  EXPECT_THAT(Regions(), ::testing::AllOf(::testing::Gt(0), ::testing::Le(kMostRegions)));
  EXPECT_LE(Calls("ModelStreamInfer"), kMostRegions);
  EXPECT_EQ(Calls("ModelStreamInfer") + Calls("Apply"), kCalls);
  gate_->Open();
  for (auto& end : ends) EXPECT_EQ(end.get_future().get(), absl::OkStatus());
}

TEST_F(GatedSharedMemoryClient, ADestroyedClientCancelsAndLeavesNothing) {
  const TensorSpec spec = Spec(DType::kFloat32, 5'000'000);
  Bytes x(spec.bytes());
  const auto buffer = client_->NewSharedBuffer(spec.bytes()).value();
  std::vector<absl::Status> ends;
  const auto done = [&](absl::Status status) { ends.push_back(std::move(status)); };
  client_->ApplyAsync(spec, x, x, {}, done);
  client_->ApplyAsync(spec, buffer->bytes(), buffer->bytes(), {}, done);
  // One of them alone may be several pieces of work.
  gate_->WaitForKept(2);
  EXPECT_TRUE(Eventually([&] { return Calls("ModelStreamInfer") == 2; }));
  EXPECT_EQ(Regions(), 2);
  client_.reset();
  const auto cancelled = absl::CancelledError("the client was destroyed");
  EXPECT_THAT(ends, ::testing::ElementsAre(cancelled, cancelled));
  EXPECT_EQ(Regions(), 0);
}

TEST(SharedMemoryClientWithout, AServerThatAllowsNoneIsCalledOverTheConnection) {
  const InProcessServer server;
  const auto client = Connect(server.target());
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), 1);
  const auto buffer = client->NewSharedBuffer(x.size()).value();
  EXPECT_FALSE(buffer->shared());
  std::ranges::copy(x, buffer->bytes().begin());
  ASSERT_EQ(client->Apply(spec, buffer->bytes(), buffer->bytes(), {.alpha = kAlpha}),
            absl::OkStatus());
  EXPECT_EQ(
      std::memcmp(buffer->bytes().data(), Expected(DType::kFloat32, kAlpha, x).data(), x.size()),
      0);
}

TEST(SharedMemoryClientWithout, NoRoomAtTheServerMeansTheConnection) {
  server::Options options = TestOptions();
  options.shared_memory_prefix = NewPrefix();
  options.max_shared_memory_bytes = 1000;
  const InProcessServer server(options);
  const auto client = Connect(server.target());
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), 1);
  Bytes y(x.size());
  EXPECT_FALSE(client->NewSharedBuffer(x.size()).value()->shared());
  ASSERT_EQ(client->Apply(spec, x, y, {.alpha = kAlpha}), absl::OkStatus());
  EXPECT_EQ(y, Expected(DType::kFloat32, kAlpha, x));
  EXPECT_THAT(ObjectsOf(options.shared_memory_prefix), IsEmpty());
}

// Across processes: the server dies and another comes in its place.
TEST(SharedMemoryClientProcess, ANewServerIsSharedWithAgain) {
  const std::string prefix = NewPrefix();
  const std::string path =
      std::filesystem::temp_directory_path() / ("trelu-shm-" + std::to_string(getpid()) + ".sock");
  const std::vector<std::string> arguments = {
      "--listen",      "unix:" + path, "--admin-listen",         "none",
      "--drain-delay", "0s",           "--shared-memory-prefix", prefix};
  std::optional<ServerProcess> server(std::in_place, arguments);
  ASSERT_TRUE(server->WaitUntilReady());
  const auto client = Connect("unix:" + path);
  const TensorSpec spec = Spec(DType::kFloat32, 3'000'000);
  const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), 1);
  const Bytes expected = Expected(DType::kFloat32, kAlpha, x);
  const auto buffer = client->NewSharedBuffer(x.size()).value();
  ASSERT_TRUE(buffer->shared());
  const auto apply = [&](std::span<std::byte> y) {
    std::ranges::fill(y, std::byte{1});
    ASSERT_EQ(client->Apply(spec, x, y, {.alpha = kAlpha}), absl::OkStatus());
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size()), 0);
  };
  Bytes y(x.size());
  apply(y);
  EXPECT_EQ(RegionsAt("unix:" + path), 2);

  server->Signal(SIGKILL);
  server->Wait();
  server.emplace(arguments);
  ASSERT_TRUE(server->WaitUntilReady());
  apply(y);  // finds the connection broken, or the region unknown
  apply(buffer->bytes());
  apply(y);
  apply(y);
  EXPECT_FALSE(buffer->shared());
  EXPECT_EQ(RegionsAt("unix:" + path), 1);
  EXPECT_TRUE(client->NewSharedBuffer(1).value()->shared());
  EXPECT_THAT(ObjectsOf(prefix), IsEmpty());
  server.reset();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace trelu::testing
