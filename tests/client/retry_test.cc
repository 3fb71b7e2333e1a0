// The rules of trying again, without a server.
#include "client/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trelu {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

constexpr milliseconds kFar = std::chrono::hours(1);

struct PushBackCase {
  std::string name;
  std::optional<std::string_view> text;
  bool forbids_retry;
  std::optional<milliseconds> wait;
};

class PushBackTest : public ::testing::TestWithParam<PushBackCase> {};

TEST_P(PushBackTest, IsReadAsTheProposalSays) {
  const PushBack push_back = PushBack::Parse(GetParam().text);
  EXPECT_EQ(push_back.forbids_retry(), GetParam().forbids_retry);
  EXPECT_EQ(push_back.wait(), GetParam().wait);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, PushBackTest,
    ::testing::Values(PushBackCase{"Absent", std::nullopt, false, std::nullopt},
                      PushBackCase{"Zero", "0", false, milliseconds(0)},
                      PushBackCase{"Hundred", "100", false, milliseconds(100)},
                      PushBackCase{"Largest", "2147483647", false, milliseconds(2147483647)},
                      PushBackCase{"TooLarge", "2147483648", true, std::nullopt},
                      PushBackCase{"Negative", "-1", true, std::nullopt},
                      PushBackCase{"Empty", "", true, std::nullopt},
                      PushBackCase{"Word", "soon", true, std::nullopt},
                      PushBackCase{"Unit", "100ms", true, std::nullopt},
                      PushBackCase{"Space", " 100", true, std::nullopt}),
    [](const auto& info) { return info.param.name; });

struct CodeCase {
  grpc::StatusCode code;
  bool retryable;
};

class RetryableTest : public ::testing::TestWithParam<CodeCase> {};

TEST_P(RetryableTest, OnlyWhatAnotherTryMayCure) {
  const RetryPacing pacing = RetryPacing::Real();
  RetrySchedule schedule({}, pacing);
  EXPECT_EQ(schedule.NextWait(GetParam().code, PushBack(), kFar).has_value(), GetParam().retryable);
}

INSTANTIATE_TEST_SUITE_P(
    Codes, RetryableTest,
    ::testing::Values(CodeCase{grpc::CANCELLED, true}, CodeCase{grpc::UNKNOWN, false},
                      CodeCase{grpc::INVALID_ARGUMENT, false},
                      CodeCase{grpc::DEADLINE_EXCEEDED, false}, CodeCase{grpc::NOT_FOUND, false},
                      CodeCase{grpc::RESOURCE_EXHAUSTED, false},
                      CodeCase{grpc::FAILED_PRECONDITION, false}, CodeCase{grpc::ABORTED, false},
                      CodeCase{grpc::UNIMPLEMENTED, false}, CodeCase{grpc::INTERNAL, false},
                      CodeCase{grpc::UNAVAILABLE, true}, CodeCase{grpc::DATA_LOSS, false},
                      CodeCase{grpc::UNAUTHENTICATED, false}));

// Fails until the schedule gives up; returns the waits.
std::vector<int> Waits(const RetryOptions& options, double random,
                       const std::vector<std::optional<std::string_view>>& push_backs = {},
                       milliseconds remaining = kFar) {
  const RetryPacing pacing = {.random = [random] { return random; },
                              .wait = [](milliseconds wait) { return wait; }};
  RetrySchedule schedule(options, pacing);
  std::vector<int> waits;
  while (true) {
    const auto push_back =
        waits.size() < push_backs.size() ? push_backs[waits.size()] : std::nullopt;
    const auto wait = schedule.NextWait(grpc::UNAVAILABLE, PushBack::Parse(push_back), remaining);
    if (!wait.has_value()) return waits;
    waits.push_back(static_cast<int>(wait->count()));
  }
}

constexpr RetryOptions kSeven = {
    .max_attempts = 7, .initial_backoff = milliseconds(50), .max_backoff = milliseconds(1000)};

TEST(RetryScheduleTest, BackoffDoublesUpToItsLimit) {
  EXPECT_THAT(Waits(kSeven, 0.9999), ElementsAre(49, 99, 199, 399, 799, 999));
}

TEST(RetryScheduleTest, JitterReachesDownToZero) {
  EXPECT_THAT(Waits(kSeven, 0.5), ElementsAre(25, 50, 100, 200, 400, 500));
  EXPECT_THAT(Waits(kSeven, 0), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(RetryScheduleTest, PushBackIsTakenAsItIsAndBackoffBeginsAgain) {
  EXPECT_THAT(Waits(kSeven, 0.5, {std::nullopt, std::nullopt, "7"}),
              ElementsAre(25, 50, 7, 25, 50, 100));
}

TEST(RetryScheduleTest, PushBackCanForbid) {
  EXPECT_THAT(Waits(kSeven, 0.5, {std::nullopt, "-1"}), ElementsAre(25));
}

TEST(RetryScheduleTest, OneAttemptIsNeverTriedAgain) {
  EXPECT_THAT(Waits({.max_attempts = 1}, 0.5), ElementsAre());
}

TEST(RetryScheduleTest, GivesUpWhenTheWaitWouldOutliveTheDeadline) {
  EXPECT_THAT(Waits(kSeven, 0.5, {"100"}, milliseconds(101)), ElementsAre(100, 25, 50, 100));
  EXPECT_THAT(Waits(kSeven, 0.5, {"100"}, milliseconds(100)), ElementsAre());
}

}  // namespace
}  // namespace trelu
