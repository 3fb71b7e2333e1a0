// Tensors larger than the server's memory for them flow through: the real binary, whose memory is
// read from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/native_client.h"
#include "tests/support/server_process.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kChunkBytes = kMiB;
// More than may be in flight and more than one message may hold.
constexpr std::size_t kTensorBytes = 300 * kMiB;
constexpr std::uint64_t kMemoryForOneStream = 64 * kMiB;

// Chunk `number` of a float64 tensor: every element holds its own place, the odd ones below zero.
std::string Chunk(std::size_t number) {
  std::string bytes(kChunkBytes, '\0');
  const std::size_t per_chunk = kChunkBytes / sizeof(double);
  for (std::size_t i = 0; i < per_chunk; ++i) {
    const std::size_t place = number * per_chunk + i;
    const double value =
        place % 2 == 0 ? static_cast<double>(place + 1) : -static_cast<double>(place);
    std::memcpy(&bytes[i * sizeof(double)], &value, sizeof(value));
  }
  return bytes;
}

std::string ExpectedChunk(std::size_t number) {
  return Expected({DType::kFloat64, {}, 0.5F, Chunk(number)});
}

// Compares the result's bytes with what they should be, as they come, however they are cut.
class Checker {
 public:
  void Take(const std::string& message) {
    v1::ApplyResponse response;
    ASSERT_TRUE(response.ParseFromString(message));
    ASSERT_EQ(response.has_tensor(), bytes_ == 0);
    std::string_view data = response.data();
    while (!data.empty()) {
      if (bytes_ % kChunkBytes == 0) expected_ = ExpectedChunk(bytes_ / kChunkBytes);
      const std::size_t at = bytes_ % kChunkBytes;
      const std::string_view part = data.substr(0, kChunkBytes - at);
      ASSERT_TRUE(std::string_view(expected_).substr(at, part.size()) == part)
          << "at byte " << bytes_;
      bytes_ += part.size();
      data.remove_prefix(part.size());
    }
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
  std::string expected_;
};

void StreamThrough(const std::string& target, const std::function<void()>& after_chunk) {
  NativeClient client(target);
  const auto without_deadline = [](grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(4));
  };
  auto stream = client.OpenStream(without_deadline);
  Checker checker;
  for (std::size_t number = 0; number < kTensorBytes / kChunkBytes; ++number) {
    v1::ApplyRequest request;
    if (number == 0) {
      request.mutable_tensor()->set_dtype(v1::DATA_TYPE_DOUBLE);
      request.mutable_tensor()->add_shape(kTensorBytes / sizeof(double));
      request.set_alpha(0.5F);
    }
    request.set_data(Chunk(number));
    ASSERT_TRUE(stream->Write(request.SerializeAsString()));
    while (const auto message = stream->TakeReceived()) checker.Take(*message);
    after_chunk();
  }
  stream->WritesDone();
  while (const auto message = stream->Read()) checker.Take(*message);
  EXPECT_EQ(checker.bytes(), kTensorBytes);
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

std::uint64_t PeakAbove(const ServerProcess& server, std::uint64_t before, std::uint64_t peak) {
  const std::uint64_t now = server.resident_bytes();
  return std::max(peak, now > before ? now - before : 0);
}

class LargeTensor : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.WaitUntilReady()) << server_.err(); }

  ServerProcess server_{{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
                         "--max-message-bytes", "4MiB", "--max-inflight-bytes", "64MiB"},
                        // Freed memory would otherwise be kept for a while, to catch its use.
                        {"ASAN_OPTIONS=quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}};
};

TEST_F(LargeTensor, FlowsThroughConstantMemory) {
  const std::uint64_t before = server_.resident_bytes();
  std::uint64_t peak = 0;
  StreamThrough(server_.target(), [&] { peak = PeakAbove(server_, before, peak); });
  EXPECT_GT(peak, 0U);
  EXPECT_LT(peak, kMemoryForOneStream) << "for " << kTensorBytes << " bytes";
  RecordProperty("peak_mib_above_idle", static_cast<int>(peak / kMiB));
  std::cout << "300 MiB through the server, which grew by " << peak / kMiB << " MiB\n";
}

TEST_F(LargeTensor, ThreeAtOnceTakeThreeTimesTheMemoryOfOne) {
  const std::uint64_t before = server_.resident_bytes();
  std::uint64_t peak = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([this] { StreamThrough(server_.target(), [] {}); });
  }
  StreamThrough(server_.target(), [&] { peak = PeakAbove(server_, before, peak); });
  for (std::thread& other : others) other.join();
  EXPECT_LT(peak, 3 * kMemoryForOneStream);
}

}  // namespace
}  // namespace trelu::testing
