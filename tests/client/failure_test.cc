// What the client does when tries fail: again or not, how long, and with which status it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "client/create.h"
#include "tests/client/tensors.h"
#include "tests/support/fake_server.h"
#include "tests/support/no_more_threads.h"

namespace trelu::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A server, and a client whose waits are written down instead of made.
class FailureTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> Connect(ClientOptions options = {}) {
    options.target = server_.target();
    RetryPacing pacing = {.random = [] { return 0.5; },
                          .wait =
                              [this](milliseconds wait) {
                                waits_.push_back(static_cast<int>(wait.count()));
                                return milliseconds(0);
                              }};
    return CreateClient(options, std::move(pacing)).value();
  }

  absl::Status ApplyAsync(Client& client, std::span<std::byte> y,
                          const ApplyOptions& options = {}) {
    std::promise<absl::Status> status;
    client.ApplyAsync(spec_, x_, y, options,
                      [&](absl::Status s) { status.set_value(std::move(s)); });
    return status.get_future().get();
  }

  FakeServer server_;
  std::vector<int> waits_;
  const TensorSpec spec_ = Spec(DType::kFloat32, {1000});
  const Bytes x_ = SomeBytes(spec_.bytes());
  Bytes y_ = Bytes(x_.size());
};

const absl::Status kScripted = absl::UnavailableError("as the script says");

TEST_F(FailureTest, UnavailableIsTriedAgainAfterABackoff) {
  server_.SetScript({.failures = 3});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), absl::OkStatus());
  EXPECT_EQ(y_, Expected(spec_, 1, x_));
  EXPECT_THAT(waits_, ElementsAre(25, 50, 100));
  EXPECT_EQ(server_.tries(), 4);
}

TEST_F(FailureTest, AsynchronousCallsAreTriedAgainToo) {
  server_.SetScript({.failures = 3});
  EXPECT_EQ(ApplyAsync(*Connect(), y_), absl::OkStatus());
  EXPECT_EQ(y_, Expected(spec_, 1, x_));
  EXPECT_THAT(waits_, ElementsAre(25, 50, 100));
}

TEST_F(FailureTest, TheLastErrorIsReturnedWhenTheTriesAreUsedUp) {
  server_.SetScript({.failures = 100});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), kScripted);
  EXPECT_EQ(server_.tries(), 4);
}

TEST_F(FailureTest, ThePushBackOfTheServerIsTheWait) {
  server_.SetScript({.failures = 1, .push_back = "123"});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), absl::OkStatus());
  EXPECT_THAT(waits_, ElementsAre(123));
}

TEST_F(FailureTest, ANegativePushBackEndsTheCall) {
  server_.SetScript({.failures = 1, .push_back = "-1"});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), kScripted);
  EXPECT_EQ(server_.tries(), 1);
}

TEST_F(FailureTest, ACancelledThatNobodyAskedForIsTriedAgain) {
  server_.SetScript({.failures = 1, .failure = grpc::StatusCode::CANCELLED});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), absl::OkStatus());
  EXPECT_EQ(server_.tries(), 2);
}

TEST_F(FailureTest, WhatAnotherTryCannotCureIsReturnedAtOnce) {
  server_.SetScript({.failures = 1, .failure = grpc::StatusCode::INVALID_ARGUMENT});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_), absl::InvalidArgumentError("as the script says"));
  EXPECT_EQ(server_.tries(), 1);
}

TEST_F(FailureTest, APushBackBeyondTheDeadlineIsNotWaitedFor) {
  server_.SetScript({.failures = 1, .push_back = "3600000"});
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_, {.timeout = std::chrono::minutes(1)}), kScripted);
  EXPECT_EQ(server_.tries(), 1);
}

TEST_F(FailureTest, TheDeadlineHoldsForEveryWayToCall) {
  const auto gate = std::make_shared<Gate>();
  server_.SetScript({.gate = gate});
  const auto client = Connect();
  const ApplyOptions options = {.timeout = milliseconds(50)};
  EXPECT_TRUE(absl::IsDeadlineExceeded(client->Apply(spec_, x_, y_, options)));
  EXPECT_TRUE(absl::IsDeadlineExceeded(ApplyAsync(*client, y_, options)));
  EXPECT_TRUE(absl::IsDeadlineExceeded(client->ApplyStream(
      spec_, [](std::span<std::byte>) { return absl::OkStatus(); },
      [](std::span<const std::byte>) { return absl::OkStatus(); }, options)));
  gate->Open();
}

TEST_F(FailureTest, TheDeadlineIsForAllTriesTogether) {
  // One try fails at once, the second waits for ever: the deadline of the first still ends it.
  const auto gate = std::make_shared<Gate>();
  const auto client = Connect();
  std::promise<absl::Status> status;
  server_.SetScript({.failures = 1, .gate = gate});
  client->ApplyAsync(spec_, x_, y_, {.timeout = milliseconds(300)},
                     [&](absl::Status s) { status.set_value(std::move(s)); });
  server_.WaitForTries(1);
  const auto never = std::make_shared<Gate>();
  server_.SetScript({.gate = never});
  gate->Open();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status.get_future().get()));
  never->Open();
}

TEST_F(FailureTest, ANegativeTimeoutIsOver) {
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(Connect()->Apply(spec_, x_, y_, {.timeout = milliseconds(-1)})));
}

TEST_F(FailureTest, NoTimeoutMeansNone) {
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_, {.timeout = milliseconds(0)}), absl::OkStatus());
  EXPECT_EQ(Connect()->Apply(spec_, x_, y_, {.timeout = milliseconds::max()}), absl::OkStatus());
}

TEST_F(FailureTest, ALargeTensorIsStreamedAgainFromItsBeginning) {
  server_.SetScript({.failures = 1, .failure_after_messages = 5});
  EXPECT_EQ(Connect({.stream_above_bytes = 100, .chunk_bytes = 100})->Apply(spec_, x_, y_),
            absl::OkStatus());
  EXPECT_EQ(y_, Expected(spec_, 1, x_));
  EXPECT_EQ(server_.tries(), 2);
}

TEST_F(FailureTest, InPlaceALargeTensorIsStreamedAgainWhileItIsWhole) {
  server_.SetScript({.failures = 1, .failure_after_messages = 0});
  Bytes in_place = x_;
  const auto client = Connect({.stream_above_bytes = 100, .chunk_bytes = 100});
  EXPECT_EQ(client->Apply(spec_, in_place, in_place), absl::OkStatus());
  EXPECT_EQ(in_place, Expected(spec_, 1, x_));

  server_.SetScript({.failures = 1, .failure_after_messages = 5});
  in_place = x_;
  EXPECT_EQ(client->Apply(spec_, in_place, in_place), kScripted);
  EXPECT_EQ(server_.tries(), 3);
}

TEST_F(FailureTest, AStreamIsNotTriedAgainOnceTheSourceWasAsked) {
  server_.SetScript({.failures = 1});
  EXPECT_EQ(Connect()->ApplyStream(
                spec_, [](std::span<std::byte>) { return absl::OkStatus(); },
                [](std::span<const std::byte>) { return absl::OkStatus(); }),
            kScripted);
  EXPECT_EQ(server_.tries(), 1);
  EXPECT_THAT(waits_, IsEmpty());
}

TEST(NoServerTest, IsUnavailableAndTheSourceIsNeverAsked) {
  // Nobody listens on a socket path that does not exist.
  std::vector<milliseconds> waits;
  const auto client =
      CreateClient({.target = "unix:/nonexistent/trelu.sock"}, {.random = [] { return 0.5; },
                                                                .wait =
                                                                    [&](milliseconds wait) {
                                                                      waits.push_back(wait);
                                                                      return milliseconds(0);
                                                                    }})
          .value();
  int asked = 0;
  const absl::Status status = client->ApplyStream(
      Spec(DType::kFloat32, {4}),
      [&](std::span<std::byte>) {
        ++asked;
        return absl::OkStatus();
      },
      [](std::span<const std::byte>) { return absl::OkStatus(); });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(waits.size(), 3);
  EXPECT_TRUE(absl::IsUnavailable(client->CheckHealth().status()));
  EXPECT_TRUE(absl::IsUnavailable(client->GetInfo().status()));
}

TEST_F(FailureTest, WithoutAThreadAnAsynchronousCallEndsAtOnceAndTheNextMayGo) {
  const auto client = Connect();
  Bytes y(x_.size());
  {
    const NoMoreThreads none;
    EXPECT_TRUE(absl::IsResourceExhausted(ApplyAsync(*client, y)));
  }
  EXPECT_EQ(server_.tries(), 0);
  EXPECT_EQ(ApplyAsync(*client, y), absl::OkStatus());
}

}  // namespace
}  // namespace trelu::testing
