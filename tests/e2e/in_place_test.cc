// Results are computed in place, on the memory that the transport received. Here many calls and
// streams share one connection, so that a byte computed on in the wrong place would show up in
// another's result.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

constexpr int kUnaryThreads = 6;
constexpr int kStreamThreads = 3;
constexpr int kUnaryCalls = 60;
constexpr int kTensorsPerStream = 40;
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

class InPlace : public ::testing::Test {
 protected:
  InPlace()
      : unix_path_(std::filesystem::temp_directory_path() /
                   ("trelu-in-place-" + std::to_string(getpid()) + ".sock")) {
    server::Options options = TestOptions();
    options.listen.push_back("unix:" + unix_path_);
    // Some of the tensors are computed on the queue's thread, some by the workers.
    options.inline_bytes = 32 << 10;
    server_.emplace(options);
  }
  ~InPlace() override {
    server_.reset();
    std::filesystem::remove(unix_path_);
  }

  // Every tensor has its own bits, so another's bytes are never right by accident.
  static void CallUnary(NativeClient& client, unsigned seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < kUnaryCalls; ++i) {
      const WireTensorCase tensor = RandomTensor(random, kMaxBytes);
      const Answer answer = client.Apply(ToRequest(tensor));
      ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
      const auto result = ParseResponse(answer.message);
      ASSERT_TRUE(result && result->Is(tensor, Expected(tensor)))
          << "seed " << seed << " call " << i;
    }
  }

  static void CallStream(NativeClient& client, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<WireTensorCase> tensors;
    auto stream = client.OpenStream();
    for (int i = 0; i < kTensorsPerStream; ++i) {
      const WireTensorCase& tensor = tensors.emplace_back(RandomTensor(random, kMaxBytes));
      const std::size_t chunk_bytes = 1 + tensor.data.size() / (1 + random() % 9);
      for (const auto& chunk : ToChunks(tensor, chunk_bytes)) {
        ASSERT_TRUE(stream->Write(chunk.SerializeAsString())) << "seed " << seed;
      }
    }
    stream->WritesDone();
    const auto results = JoinResponses(stream->ReadAll());
    ASSERT_TRUE(stream->Finish().ok()) << "seed " << seed;
    ASSERT_TRUE(results);
    ASSERT_EQ(results->size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ASSERT_TRUE(results->at(i).Is(tensors[i], Expected(tensors[i])))
          << "seed " << seed << " tensor " << i;
    }
  }

  static void CallAtOnce(const std::string& target) {
    NativeClient client(target);
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < kUnaryThreads; ++seed) {
      threads.emplace_back([&client, seed] { CallUnary(client, seed); });
    }
    for (unsigned seed = 0; seed < kStreamThreads; ++seed) {
      threads.emplace_back([&client, seed] { CallStream(client, 100 + seed); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::string unix_path_;
  std::optional<InProcessServer> server_;
};

TEST_F(InPlace, CallsAndStreamsOnOneTcpConnection) { CallAtOnce(server_->target(0)); }

TEST_F(InPlace, CallsAndStreamsOnOneUnixConnection) { CallAtOnce(server_->target(1)); }

// Marks that no result may hold: each caller's tensor is all its own mark, and passes whole.
TEST_F(InPlace, NobodySeesAnothersMark) {
  NativeClient client(server_->target());
  std::vector<std::thread> threads;
  for (char mark = 1; mark <= 8; ++mark) {
    threads.emplace_back([&client, mark] {
      std::mt19937_64 random(static_cast<unsigned>(mark));
      for (int i = 0; i < 100; ++i) {
        const std::size_t count = random() % 20'000;
        const WireTensorCase tensor = {DType::kFloat32,
                                       {static_cast<std::int64_t>(count)},
                                       0.0F,
                                       std::string(count * 4, mark)};
        const Answer answer = client.Apply(ToRequest(tensor));
        const auto result = ParseResponse(answer.message);
        ASSERT_TRUE(answer.status.ok() && result) << answer.status.error_message();
        ASSERT_EQ(result->data.find_first_not_of(mark), std::string::npos) << int{mark};
        ASSERT_EQ(result->data.size(), tensor.data.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace trelu::testing
