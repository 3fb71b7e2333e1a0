// The client library and a real server on one host share memory: every result is right, wherever
// the tensors are, and nothing is left behind.
#include "tests/e2e/shared_memory_client.h"

#include <sys/wait.h>

#include <thread>

namespace trelu::testing {
namespace {

using ::testing::IsEmpty;

struct TensorCase {
  DType dtype;
  std::size_t elements;
};
std::string Name(const ::testing::TestParamInfo<TensorCase>& info) {
  return std::string(trelu::Name(info.param.dtype)) + "_" + std::to_string(info.param.elements);
}

class SharedMemoryClientTensors : public SharedMemoryClient,
                                  public ::testing::WithParamInterface<TensorCase> {};

TEST_P(SharedMemoryClientTensors, AreRightWhereverTheyAre) {
  const auto [dtype, elements] = GetParam();
  const TensorSpec spec = Spec(dtype, elements);
  const Bytes x = InterestingInput(dtype, kAlpha, spec.bytes(), 1);
  const Bytes expected = Expected(dtype, kAlpha, x);
  // Two tensors in one buffer, neither aligned.
  const auto buffer = client_->NewSharedBuffer(2 * spec.bytes() + 8).value();
  ASSERT_TRUE(buffer->shared());
  const auto x_shared = buffer->bytes().subspan(3, spec.bytes());
  const auto y_shared = buffer->bytes().subspan(spec.bytes() + 5, spec.bytes());
  std::ranges::copy(x, x_shared.begin());
  const auto expect = [&](std::span<const std::byte> y) {
    EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size()), 0);
  };

  Bytes y(x.size());
  const ApplyOptions options = {.alpha = kAlpha};
  ASSERT_EQ(client_->Apply(spec, x, y, options), absl::OkStatus());
  expect(y);
  Bytes in_place = x;
  ASSERT_EQ(client_->Apply(spec, in_place, in_place, options), absl::OkStatus());
  expect(in_place);
  ASSERT_EQ(client_->Apply(spec, x, y_shared, options), absl::OkStatus());
  expect(y_shared);
  std::ranges::fill(y_shared, std::byte{1});
  ASSERT_EQ(client_->Apply(spec, x_shared, y_shared, options), absl::OkStatus());
  expect(y_shared);
  std::ranges::fill(y, std::byte{1});
  ASSERT_EQ(ApplyAsync(*client_, spec, x_shared, y), absl::OkStatus());
  expect(y);
  EXPECT_EQ(std::memcmp(x_shared.data(), x.data(), x.size()), 0);
  ASSERT_EQ(ApplyAsync(*client_, spec, x_shared, x_shared), absl::OkStatus());
  expect(x_shared);
  EXPECT_EQ(buffer->bytes()[2], std::byte{0});
  EXPECT_EQ(buffer->bytes()[spec.bytes() + 3], std::byte{0});
  ExpectAllCallsShared(6);
}

INSTANTIATE_TEST_SUITE_P(
    Tensors, SharedMemoryClientTensors,
    ::testing::Values(TensorCase{DType::kFloat16, 150'001}, TensorCase{DType::kBFloat16, 4'194'305},
                      TensorCase{DType::kFloat32, 65'537}, TensorCase{DType::kFloat32, 1'048'576},
                      TensorCase{DType::kFloat32, 3'333'333}, TensorCase{DType::kFloat64, 524'289}),
    &Name);

TEST_F(SharedMemoryClient, ASmallTensorGoesInAMessage) {
  const TensorSpec spec = Spec(DType::kFloat32, 65'536);
  Bytes x(spec.bytes());
  EXPECT_EQ(client_->Apply(spec, x, x), absl::OkStatus());
  EXPECT_EQ(Calls("Apply"), 1);
  EXPECT_EQ(Regions(), 0);
}

TEST_F(SharedMemoryClient, NeverMeansNever) {
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  client_ =
      Client::Create({.target = server_->target(), .shared_memory = SharedMemory::kNever}).value();
  const auto buffer = client_->NewSharedBuffer(spec.bytes()).value();
  EXPECT_FALSE(buffer->shared());
  EXPECT_EQ(client_->Apply(spec, buffer->bytes(), buffer->bytes()), absl::OkStatus());
  EXPECT_EQ(Calls("Apply"), 1);
}

TEST_F(SharedMemoryClient, CallersAtOnceDoNotMixUpTheirTensors) {
  const TensorSpec spec = Spec(DType::kFloat32, 1'300'000);
  constexpr std::size_t kCallers = 4;
  constexpr std::size_t kAsync = 40;  // more than there may be regions
  const auto call = [&](unsigned seed) {
    const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), seed);
    const Bytes expected = Expected(DType::kFloat32, kAlpha, x);
    for (int i = 0; i < 6; ++i) {
      Bytes y(x.size());
      ASSERT_EQ(client_->Apply(spec, x, y, {.alpha = kAlpha}), absl::OkStatus());
      ASSERT_EQ(y, expected);
    }
  };
  std::vector<std::thread> callers;
  for (unsigned seed = 0; seed < kCallers; ++seed) callers.emplace_back(call, seed);
  const Bytes x = InterestingInput(DType::kFloat32, kAlpha, spec.bytes(), 99);
  const Bytes expected = Expected(DType::kFloat32, kAlpha, x);
  std::vector<Bytes> ys(kAsync, Bytes(x.size()));
  std::vector<std::promise<absl::Status>> ends(kAsync);
  for (std::size_t i = 0; i < kAsync; ++i) {
    client_->ApplyAsync(spec, x, ys[i], {.alpha = kAlpha},
                        [&ends, i](absl::Status status) { ends[i].set_value(std::move(status)); });
  }
  for (std::size_t i = 0; i < kAsync; ++i) {
    ASSERT_EQ(ends[i].get_future().get(), absl::OkStatus());
    ASSERT_EQ(ys[i], expected);
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(ObjectsOf(prefix_), IsEmpty());
  // What is over the pool's idle ones goes again.
  EXPECT_TRUE(Eventually([&] { return Regions() <= 4; }));
}

TEST_F(SharedMemoryClient, RegionsAreUsedAgainHaveNoNamesAndGoWithTheClient) {
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  Bytes x(spec.bytes());
  for (int i = 0; i < 3; ++i) ASSERT_EQ(client_->Apply(spec, x, x), absl::OkStatus());
  auto buffer = client_->NewSharedBuffer(spec.bytes()).value();
  EXPECT_EQ(Regions(), 2);
  EXPECT_THAT(ObjectsOf(prefix_), IsEmpty());
  client_.reset();
  EXPECT_EQ(Regions(), 0);
  EXPECT_FALSE(buffer->shared());
  std::ranges::fill(buffer->bytes(), std::byte{7});
  EXPECT_EQ(buffer->bytes().back(), std::byte{7});
}

TEST_F(SharedMemoryClient, AChildProcessThatReleasesABufferLeavesItToItsParent) {
  const TensorSpec spec = Spec(DType::kFloat32, 1'000'000);
  auto buffer = client_->NewSharedBuffer(spec.bytes()).value();
  const pid_t child = fork();
  if (child == 0) {
    buffer.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(client_->Apply(spec, buffer->bytes(), buffer->bytes()), absl::OkStatus());
  EXPECT_TRUE(buffer->shared());
  EXPECT_EQ(Regions(), 1);
  ExpectAllCallsShared(1);
}

TEST_F(SharedMemoryClient, ABufferIsUnregisteredWhenItGoes) {
  auto buffer = client_->NewSharedBuffer(1000).value();
  EXPECT_EQ(Regions(), 1);
  buffer.reset();
  EXPECT_TRUE(Eventually([&] { return Regions() == 0; }));
}

}  // namespace
}  // namespace trelu::testing
