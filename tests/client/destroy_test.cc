// Destroying a client under its own calls.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

#include "client/create.h"
#include "tests/client/tensors.h"
#include "tests/support/fake_server.h"

namespace trelu::testing {
namespace {

class DestroyTest : public ::testing::TestWithParam<std::uint64_t> {  // stream_above_bytes
 protected:
  void StartCalls(Client& client, int count) {
    results_.assign(count, Bytes(x_.size()));
    statuses_.resize(count);
    for (int i = 0; i < count; ++i) {
      client.ApplyAsync(spec_, x_, results_[i], {}, [this, i](absl::Status status) {
        statuses_[i].push_back(std::move(status));
      });
    }
  }

  // Each `done` was called once, with CANCELLED. Needs no lock: the client is gone.
  void ExpectAllCancelled() {
    for (const auto& status : statuses_) {
      ASSERT_EQ(status.size(), 1);
      EXPECT_TRUE(absl::IsCancelled(status[0])) << status[0];
    }
  }

  FakeServer server_;
  const TensorSpec spec_ = Spec(DType::kFloat32, {1000});
  const Bytes x_ = SomeBytes(spec_.bytes());
  std::vector<Bytes> results_;
  std::vector<std::vector<absl::Status>> statuses_;
};

TEST_P(DestroyTest, CancelsCallsInFlightAndWaitsForThem) {
  const auto gate = std::make_shared<Gate>();
  server_.SetScript({.gate = gate});
  auto client =
      Client::Create({.target = server_.target(), .stream_above_bytes = GetParam()}).value();
  StartCalls(*client, 5);
  server_.WaitForTries(5);
  client.reset();
  ExpectAllCancelled();
  gate->Open();
}

TEST_P(DestroyTest, CancelsCallsThatHaveHardlyBegun) {
  const auto gate = std::make_shared<Gate>();
  server_.SetScript({.gate = gate});
  for (int round = 0; round < 20; ++round) {
    statuses_.clear();
    auto client =
        Client::Create({.target = server_.target(), .stream_above_bytes = GetParam()}).value();
    StartCalls(*client, 5);
    client.reset();
    ExpectAllCancelled();
  }
  gate->Open();
}

TEST_P(DestroyTest, CancelsCallsThatWaitForTheirNextTry) {
  server_.SetScript({.failures = 1000});
  std::promise<void> all_wait;
  std::atomic<int> waiting = 0;
  auto client = CreateClient({.target = server_.target(), .stream_above_bytes = GetParam()},
                             {.random = [] { return 0.5; },
                              .wait =
                                  [&](std::chrono::milliseconds) {
                                    if (++waiting == 5) all_wait.set_value();
                                    return std::chrono::hours(1);
                                  }})
                    .value();
  StartCalls(*client, 5);
  all_wait.get_future().wait();
  client.reset();
  ExpectAllCancelled();
}

TEST_P(DestroyTest, CancelsWhatADoneStartsMeanwhile) {
  const auto gate = std::make_shared<Gate>();
  server_.SetScript({.gate = gate});
  auto client =
      Client::Create({.target = server_.target(), .stream_above_bytes = GetParam()}).value();
  Bytes y(x_.size());
  std::vector<absl::Status> statuses;
  Client* const raw = client.get();
  client->ApplyAsync(spec_, x_, y, {}, [&](absl::Status first) {
    statuses.push_back(std::move(first));
    raw->ApplyAsync(spec_, x_, y, {},
                    [&](absl::Status second) { statuses.push_back(std::move(second)); });
  });
  server_.WaitForTries(1);
  client.reset();
  ASSERT_EQ(statuses.size(), 2);
  EXPECT_TRUE(absl::IsCancelled(statuses[0])) << statuses[0];
  EXPECT_TRUE(absl::IsCancelled(statuses[1])) << statuses[1];
  gate->Open();
}

INSTANTIATE_TEST_SUITE_P(Ways, DestroyTest, ::testing::Values(0, 1 << 20),
                         [](const auto& info) { return info.param == 0 ? "Stream" : "Unary"; });

}  // namespace
}  // namespace trelu::testing
