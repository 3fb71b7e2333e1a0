// ApplyStream's two ends: how they are called, and what their errors do.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "tests/client/tensors.h"
#include "tests/support/fake_server.h"
#include "trelu/client.h"

namespace trelu::testing {
namespace {

constexpr std::uint64_t kChunk = 1000;

class StreamTest : public ::testing::Test {
 protected:
  FakeServer server_;
  std::unique_ptr<Client> client_ =
      Client::Create({.target = server_.target(), .chunk_bytes = kChunk}).value();
  const TensorSpec spec_ = Spec(DType::kFloat32, {100'000});
};

TEST_F(StreamTest, CallsBothEndsOnTheCallersThreadWithTheSizesPromised) {
  server_.SetScript({.answer_bytes = 777});
  const auto caller = std::this_thread::get_id();
  std::uint64_t asked = 0;
  std::uint64_t given = 0;
  EXPECT_EQ(client_->ApplyStream(
                spec_,
                [&](std::span<std::byte> part) {
                  EXPECT_EQ(std::this_thread::get_id(), caller);
                  EXPECT_EQ(part.size(), std::min(kChunk, spec_.bytes() - asked));
                  asked += part.size();
                  std::ranges::fill(part, std::byte{0});
                  return absl::OkStatus();
                },
                [&](std::span<const std::byte> part) {
                  EXPECT_EQ(std::this_thread::get_id(), caller);
                  given += part.size();
                  EXPECT_LE(given, asked);
                  return absl::OkStatus();
                }),
            absl::OkStatus());
  EXPECT_EQ(asked, spec_.bytes());
  EXPECT_EQ(given, spec_.bytes());
}

TEST_F(StreamTest, AnErrorOfTheSourceEndsTheCall) {
  for (const int good_chunks : {0, 1, 7}) {
    int asked = 0;
    EXPECT_EQ(client_->ApplyStream(
                  spec_,
                  [&](std::span<std::byte>) {
                    return asked++ == good_chunks ? absl::OutOfRangeError("the file ends here")
                                                  : absl::OkStatus();
                  },
                  [](std::span<const std::byte>) { return absl::OkStatus(); }),
              absl::OutOfRangeError("the file ends here"));
    EXPECT_EQ(asked, good_chunks + 1);
  }
}

TEST_F(StreamTest, AnErrorOfTheSinkEndsTheCall) {
  for (const int good_parts : {0, 1, 7}) {
    int given = 0;
    EXPECT_EQ(client_->ApplyStream(
                  spec_, [](std::span<std::byte>) { return absl::OkStatus(); },
                  [&](std::span<const std::byte>) {
                    return given++ == good_parts ? absl::ResourceExhaustedError("the disk is full")
                                                 : absl::OkStatus();
                  }),
              absl::ResourceExhaustedError("the disk is full"));
    EXPECT_EQ(given, good_parts + 1);
  }
}

TEST_F(StreamTest, AnErrorOfTheSourceIsNotTriedAgainWhateverItsCode) {
  EXPECT_EQ(client_->ApplyStream(
                spec_, [](std::span<std::byte>) { return absl::UnavailableError("no tape"); },
                [](std::span<const std::byte>) { return absl::OkStatus(); }),
            absl::UnavailableError("no tape"));
  EXPECT_LE(server_.tries(), 1);
}

TEST_F(StreamTest, TheMemoryOfAFailedCallMayBeFreedAtOnce) {
  // The address sanitizer sees it if anything still reads the tensor or writes the result.
  const auto gate = std::make_shared<Gate>();
  server_.SetScript({.gate = gate});
  for (const std::uint64_t stream_above : {std::uint64_t{0}, std::uint64_t{64} << 20}) {
    const auto client =
        Client::Create({.target = server_.target(), .stream_above_bytes = stream_above}).value();
    const TensorSpec spec = Spec(DType::kFloat32, {8 << 20});
    auto x = std::make_unique<Bytes>(spec.bytes());
    auto y = std::make_unique<Bytes>(spec.bytes());
    EXPECT_TRUE(absl::IsDeadlineExceeded(
        client->Apply(spec, *x, *y, {.timeout = std::chrono::milliseconds(100)})));
    x.reset();
    y.reset();
  }
  gate->Open();
}

}  // namespace
}  // namespace trelu::testing
