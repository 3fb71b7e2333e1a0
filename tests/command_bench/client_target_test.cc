#include "client/command/bench/client_target.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "client/command/bench/load_run.h"
#include "core/thresholded_relu.h"

namespace trelu::command {
namespace {

using std::chrono::seconds;

// Computes in the process. What a call does besides is up to the test.
class FakeClient final : public Client {
 public:
  struct Fault {
    std::size_t call = SIZE_MAX;  // which call is spoilt
    bool wrong_byte = false;
    bool short_stream = false;
    bool stale = false;  // "succeeds" without writing the answer
    absl::Status status{};
  };
  explicit FakeClient(Fault fault) : fault_(std::move(fault)) {}

  absl::Status Apply(const TensorSpec&, std::span<const std::byte>, std::span<std::byte>,
                     const ApplyOptions&) override {
    return absl::UnimplementedError("");
  }

  void ApplyAsync(const TensorSpec& spec, std::span<const std::byte> x, std::span<std::byte> y,
                  const ApplyOptions& options, std::function<void(absl::Status)> done) override {
    const bool spoilt = calls_++ == fault_.call;
    if (!(spoilt && fault_.stale)) {
      ThresholdedRelu(spec.dtype(), options.alpha.value_or(1)).Apply(x, y.data());
    }
    if (spoilt && fault_.wrong_byte) y[y.size() / 2] ^= std::byte{1};
    done(spoilt ? fault_.status : absl::OkStatus());
  }

  absl::Status ApplyStream(const TensorSpec& spec, const Source& source, const Sink& sink,
                           const ApplyOptions& options) override {
    const bool spoilt = calls_++ == fault_.call;
    const ThresholdedRelu op(spec.dtype(), options.alpha.value_or(1));
    for (std::uint64_t offset = 0; offset < spec.bytes();) {
      std::vector<std::byte> chunk(std::min<std::uint64_t>(spec.bytes() - offset, 1 << 16));
      if (absl::Status status = source(chunk); !status.ok()) return status;
      op.Apply(chunk, chunk.data());
      if (spoilt && fault_.wrong_byte) chunk[chunk.size() / 2] ^= std::byte{1};
      offset += chunk.size();
      if (spoilt && fault_.short_stream && offset == spec.bytes()) return absl::OkStatus();
      if (absl::Status status = sink(chunk); !status.ok()) return status;
    }
    return spoilt ? fault_.status : absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<SharedBuffer>> NewSharedBuffer(std::size_t /*bytes*/) override {
    return absl::UnimplementedError("");
  }

  absl::StatusOr<ServingStatus> CheckHealth(const std::string&,
                                            std::chrono::milliseconds) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<ServerInfo> GetInfo(std::chrono::milliseconds) override {
    return absl::UnimplementedError("");
  }

 private:
  const Fault fault_;
  std::atomic<std::size_t> calls_ = 0;
};

constexpr std::size_t kSlots = 3;

struct Kind {
  std::string name;
  std::function<std::unique_ptr<ClientTarget>(FakeClient::Fault)> make;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

template <typename Target>
std::unique_ptr<ClientTarget> Make(FakeClient::Fault fault) {
  const TensorSpec spec = *TensorSpec::Create(DType::kFloat32, std::vector<std::int64_t>{300, 100});
  return std::make_unique<Target>(std::make_unique<FakeClient>(std::move(fault)), spec,
                                  ApplyOptions{.alpha = 0.25F}, kSlots);
}

class ClientTargetTest : public testing::TestWithParam<Kind> {
 protected:
  static LoadResult Run(ClientTarget& target) {
    SteadyClock clock;
    return RunLoad({.in_flight = kSlots, .duration = seconds(3600), .max_requests = 60}, target,
                   clock);
  }
};

TEST_P(ClientTargetTest, RightAnswersPassTheVerification) {
  const auto target = GetParam().make({});
  target->set_verify(true);
  const LoadResult result = Run(*target);
  EXPECT_EQ(result.tally.latency.count(), 60U);
  EXPECT_TRUE(result.tally.failures.empty());
}

TEST_P(ClientTargetTest, AWrongByteIsDataLossWhenVerifying) {
  for (const bool verify : {true, false}) {
    const auto target = GetParam().make({.call = 40, .wrong_byte = true});
    target->set_verify(verify);
    const LoadResult result = Run(*target);
    ASSERT_EQ(result.tally.failures.size(), verify ? 1U : 0U);
    if (!verify) continue;
    EXPECT_EQ(result.tally.failures.begin()->first, absl::StatusCode::kDataLoss);
    EXPECT_EQ(result.tally.failures.begin()->second.count, 1U);
    EXPECT_THAT(result.tally.failures.begin()->second.first_message, testing::HasSubstr("byte "));
  }
}

TEST_P(ClientTargetTest, AFailedCallKeepsItsStatus) {
  const auto target =
      GetParam().make({.call = 7, .status = absl::ResourceExhaustedError("too large")});
  const LoadResult result = Run(*target);
  ASSERT_EQ(result.tally.failures.size(), 1U);
  EXPECT_EQ(result.tally.failures.begin()->first, absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(result.tally.failures.begin()->second.first_message, "too large");
}

INSTANTIATE_TEST_SUITE_P(Targets, ClientTargetTest,
                         testing::Values(Kind{"Call", Make<CallTarget>},
                                         Kind{"Stream", Make<StreamTarget>}),
                         [](const auto& info) { return info.param.name; });

TEST(CallTargetTest, AnAnswerLeftFromBeforeDoesNotPass) {
  SteadyClock clock;
  const auto target = Make<CallTarget>({.call = 40, .stale = true});
  target->set_verify(true);
  const LoadResult result =
      RunLoad({.in_flight = kSlots, .duration = seconds(3600), .max_requests = 60}, *target, clock);
  EXPECT_EQ(result.tally.failures.count(absl::StatusCode::kDataLoss), 1U);
}

TEST(StreamTargetTest, AShortResultIsDataLossEvenWithoutVerifying) {
  SteadyClock clock;
  const auto target = Make<StreamTarget>({.call = 5, .short_stream = true});
  const LoadResult result =
      RunLoad({.in_flight = kSlots, .duration = seconds(3600), .max_requests = 60}, *target, clock);
  EXPECT_EQ(result.tally.failures.count(absl::StatusCode::kDataLoss), 1U);
}

TEST(StreamTargetTest, AbandonedStreamsEnd) {
  const auto target = Make<StreamTarget>({});
  target->Abandon();
  std::mutex mutex;
  std::condition_variable wake;
  std::optional<absl::Status> ended;
  target->Send(0, [&](const absl::Status& status) {
    const std::lock_guard lock(mutex);
    ended = status;
    wake.notify_one();
  });
  std::unique_lock lock(mutex);
  wake.wait(lock, [&] { return ended.has_value(); });
  EXPECT_EQ(ended->code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trelu::command
