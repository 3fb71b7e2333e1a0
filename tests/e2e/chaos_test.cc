// A server under callers who cancel, run out of time, cut their streams and do not read, drained
// under that load, again and again: never a wrong byte in an answer that says OK, never a handler
// left behind.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

// How many times a server is started and drained; more by TRELU_CHAOS_ROUNDS.
int Rounds() {
  const char* rounds = std::getenv("TRELU_CHAOS_ROUNDS");
  return rounds == nullptr ? 15 : std::atoi(rounds);
}

struct Tally {
  std::atomic<int> right{0};
  std::atomic<int> wrong{0};
  std::mutex mutex;
  std::map<int, int> by_code;

  void Count(const grpc::Status& status) {
    const std::lock_guard lock(mutex);
    ++by_code[status.error_code()];
  }
};

// One caller's random behaviour, from one seed.
class UnrulyCaller {
 public:
  UnrulyCaller(const std::string& target, std::uint64_t seed, Tally& tally)
      : client_(target), random_(seed), tally_(tally) {}

  void Call() { OneIn(2) ? Unary() : Stream(); }

 private:
  bool OneIn(unsigned n) { return random_() % n == 0; }
  std::chrono::microseconds UpTo(unsigned microseconds) {
    return std::chrono::microseconds(static_cast<std::int64_t>(random_() % microseconds));
  }

  // A quarter of the calls have a deadline that may or may not be enough.
  void Prepare(grpc::ClientContext& context) {
    if (OneIn(4)) {
      context.set_deadline(std::chrono::system_clock::now() + UpTo(4000));
    }
  }

  void Check(bool right) {
    ++(right ? tally_.right : tally_.wrong);
    EXPECT_TRUE(right);
  }

  void Unary() {
    const WireTensorCase tensor = RandomTensor(random_, 1 << 20);
    RawStream call(client_.channel(), kApply,
                   [this](grpc::ClientContext& context) { Prepare(context); });
    std::thread canceller;
    if (OneIn(4)) {
      canceller = std::thread([&call, patience = UpTo(3000)] {
        std::this_thread::sleep_for(patience);  // chaos, not order
        call.context().TryCancel();
      });
    }
    call.Write(ToRequest(tensor).SerializeAsString());
    call.WritesDone();
    const auto responses = call.ReadAll();
    const grpc::Status status = call.Finish();
    if (canceller.joinable()) canceller.join();
    tally_.Count(status);
    if (!status.ok()) return;
    const auto result = responses.size() == 1 ? ParseResponse(responses[0]) : std::nullopt;
    Check(result && result->Is(tensor, Expected(tensor)));
  }

  void Stream() {
    std::vector<WireTensorCase> tensors;
    for (auto i = 1 + random_() % 5; i > 0; --i) {
      tensors.push_back(RandomTensor(random_, 1 << 18));
    }
    auto stream = client_.OpenStream([this](grpc::ClientContext& context) { Prepare(context); });
    for (const WireTensorCase& tensor : tensors) {
      const std::size_t chunk = 1 + random_() % (tensor.data.size() + 1);
      for (const auto& message : ToChunks(tensor, std::max<std::size_t>(chunk, 512))) {
        if (!stream->Write(message.SerializeAsString())) break;
        if (OneIn(40)) stream->context().TryCancel();
        if (OneIn(40)) return;  // leaves without a word
      }
    }
    stream->WritesDone();
    const auto responses = stream->ReadAll();
    const grpc::Status status = stream->Finish();
    tally_.Count(status);
    if (!status.ok()) return;
    const auto results = JoinResponses(responses);
    bool right = results && results->size() == tensors.size();
    for (std::size_t i = 0; right && i < tensors.size(); ++i) {
      right = (*results)[i].Is(tensors[i], Expected(tensors[i]));
    }
    Check(right);
  }

  NativeClient client_;
  std::mt19937_64 random_;
  Tally& tally_;
};

TEST(ChaosTest, NeverAWrongByteAndNothingLeftBehind) {
  constexpr int kCallers = 4;
  Tally tally;
  const int rounds = Rounds();
  for (int round = 0; round < rounds; ++round) {
    server::Options options = TestOptions();
    options.admin_listen = "";
    // All on the workers, none, or as usual.
    if (round % 3 != 0) options.inline_bytes = round % 3 == 1 ? 0 : 1 << 30;
    if (round % 2 != 0) options.busy_poll = std::chrono::milliseconds(1);
    options.drain_grace = std::chrono::milliseconds(round % 4 * 20);
    options.log_calls = server::LogCalls::kNone;
    InProcessServer server(options);
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, seed = static_cast<std::uint64_t>(round * kCallers + i)] {
        UnrulyCaller caller(server.target(), seed, tally);
        while (!stop) {
          caller.Call();
          ++calls;
        }
      });
    }
    const int enough = 40 + round * 37 % 80;
    EXPECT_TRUE(Eventually([&] { return calls >= enough; }));
    server->Drain();
    EXPECT_EQ(server->calls_in_flight(), 0);
    stop = true;
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_GT(tally.right, 0);
  std::string codes;
  for (const auto& [code, count] : tally.by_code) {
    codes += " " + std::to_string(code) + ":" + std::to_string(count);
  }
  std::printf("%d rounds, %d right, %d wrong; calls by status code:%s\n", rounds,
              tally.right.load(), tally.wrong.load(), codes.c_str());
}

}  // namespace
}  // namespace trelu::testing
