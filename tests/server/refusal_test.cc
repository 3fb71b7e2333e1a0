#include "server/refusal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace trelu::server {
namespace {

using std::chrono::milliseconds;

struct RefusalCase {
  const char* name;
  absl::Status status;
  absl::StatusCode code;
  Rejection reason;
  std::optional<milliseconds> pushback;
  bool cut_by_server;
  const char* named;
};

std::vector<RefusalCase> RefusalCases() {
  const auto now = std::chrono::system_clock::now();
  constexpr auto none = std::nullopt;
  return {
      {"TooLarge", TooLarge(11, 10), absl::StatusCode::kResourceExhausted, Rejection::kTooLarge,
       none, false, "message of 11 bytes: at most 10 (--max-message-bytes)"},
      {"AnswerTooLarge", AnswerTooLarge(11, 10), absl::StatusCode::kResourceExhausted,
       Rejection::kTooLarge, none, false, "answer of 11 bytes: at most 10 (--max-message-bytes)"},
      {"OverBudget", OverBudget(11, 10), absl::StatusCode::kUnavailable, Rejection::kOverBudget,
       milliseconds(50), false,
       "no room for 11 bytes more in flight, at most 10 (--max-inflight-bytes)"},
      {"Draining", Draining(), absl::StatusCode::kUnavailable, Rejection::kDraining,
       milliseconds(100), true, "server draining"},
      {"Idle", Idle(milliseconds(1500)), absl::StatusCode::kDeadlineExceeded, Rejection::kIdle,
       none, true, "stream idle for 1500 ms (--stream-idle-timeout)"},
      {"DeadlinePassed", CallerGone(now - std::chrono::hours(1)),
       absl::StatusCode::kDeadlineExceeded, Rejection::kDeadline, none, false, "deadline passed"},
      {"Cancelled", CallerGone(now + std::chrono::hours(1)), absl::StatusCode::kCancelled,
       Rejection::kCancelled, none, false, "cancelled by the caller"},
      {"CancelledWithoutDeadline", CallerGone(std::chrono::system_clock::time_point::max()),
       absl::StatusCode::kCancelled, Rejection::kCancelled, none, false, "cancelled by the caller"},
      {"WrongInput", absl::InvalidArgumentError("data: wrong"), absl::StatusCode::kInvalidArgument,
       Rejection::kInvalid, none, false, "data: wrong"},
      {"NotLoaded", absl::UnavailableError("model: not ready"), absl::StatusCode::kUnavailable,
       Rejection::kInvalid, none, false, "model: not ready"},
  };
}

class RefusalTest : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(RefusalTest, RemembersItsReason) {
  const RefusalCase& one = GetParam();
  EXPECT_EQ(one.status.code(), one.code);
  EXPECT_EQ(ReasonOf(one.status), one.reason);
  EXPECT_EQ(PushbackOf(one.status), one.pushback);
  EXPECT_EQ(CutByServer(one.status), one.cut_by_server);
  EXPECT_NE(std::string(one.status.message()).find(one.named), std::string::npos)
      << one.status.message();
}

TEST_P(RefusalTest, KeepsItsReasonWhenCopied) {
  const absl::Status copy = GetParam().status;
  EXPECT_EQ(ReasonOf(copy), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(All, RefusalTest, ::testing::ValuesIn(RefusalCases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Refusal, SuccessIsNotCut) { EXPECT_FALSE(CutByServer(absl::OkStatus())); }

}  // namespace
}  // namespace trelu::server
