#include "client/command/health_poll.h"

#include <gmock/gmock.h>

#include "tests/command_bench/simulation.h"

namespace trelu::command {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Answer {
  Health health;
  std::string name;
  ExitCode code;
};

TEST(HealthTest, EveryAnswerHasItsNameAndExitCode) {
  const Answer cases[] = {
      {ServingStatus::kServing, "SERVING", kOk},
      {ServingStatus::kNotServing, "NOT_SERVING", kNotServing},
      {ServingStatus::kServiceUnknown, "SERVICE_UNKNOWN", kRefused},
      {absl::UnavailableError(""), "UNAVAILABLE", kUnavailable},
      {absl::DeadlineExceededError(""), "DEADLINE_EXCEEDED", kDeadline},
      {absl::UnimplementedError(""), "UNIMPLEMENTED", kRefused},
  };
  for (const Answer& row : cases) {
    EXPECT_EQ(Name(row.health), row.name);
    EXPECT_EQ(ExitCodeOf(row.health), row.code) << row.name;
  }
}

class WaitForServingTest : public testing::Test {
 protected:
  // Unreachable at first, then starting, from the third second on serving. Each try takes `takes`.
  Health Ask(milliseconds timeout) {
    timeouts_.push_back(timeout);
    clock_.Advance(takes_);
    const auto elapsed = clock_.Now() - start_;
    if (elapsed < seconds(1)) return absl::UnavailableError("refused");
    if (elapsed < seconds(3)) return ServingStatus::kNotServing;
    return ServingStatus::kServing;
  }
  Health Wait(milliseconds timeout, std::chrono::nanoseconds wait,
              const std::function<bool(const Health&)>& on_answer = nullptr) {
    return WaitForServing([this](milliseconds limit) { return Ask(limit); }, clock_, timeout, wait,
                          on_answer);
  }

  SimulatedClock clock_;
  const TimePoint start_ = clock_.Now();
  milliseconds takes_{1};
  std::vector<milliseconds> timeouts_;
};

TEST_F(WaitForServingTest, WithoutWaitingAsksOnceWithAllOfTheTimeout) {
  EXPECT_EQ(Name(Wait(seconds(5), seconds(0))), "UNAVAILABLE");
  EXPECT_THAT(timeouts_, testing::ElementsAre(seconds(5)));
}

TEST_F(WaitForServingTest, AsksUntilServing) {
  EXPECT_EQ(Name(Wait(seconds(5), seconds(30))), "SERVING");
  EXPECT_EQ(clock_.Now() - start_, milliseconds(3031));  // 31 tries of 1 ms, 100 ms apart
}

TEST_F(WaitForServingTest, GivesUpInTimeWithTheLastAnswer) {
  EXPECT_EQ(Name(Wait(seconds(5), seconds(2))), "NOT_SERVING");
  EXPECT_LE(clock_.Now() - start_, seconds(2));
}

TEST_F(WaitForServingTest, NoTryMayOutlastTheWaiting) {
  takes_ = milliseconds(700);
  EXPECT_EQ(Name(Wait(milliseconds(900), seconds(2))), "NOT_SERVING");
  EXPECT_THAT(timeouts_,
              testing::ElementsAre(milliseconds(900), milliseconds(900), milliseconds(400)));
}

TEST_F(WaitForServingTest, NoTimeoutMeansWhatIsLeft) {
  EXPECT_EQ(Name(Wait(milliseconds(0), milliseconds(50))), "UNAVAILABLE");
  EXPECT_THAT(timeouts_, testing::ElementsAre(milliseconds(50)));
}

TEST_F(WaitForServingTest, TheListenerSeesEveryAnswerAndMayStop) {
  std::vector<std::string> seen;
  const Health last = Wait(seconds(5), seconds(30), [&](const Health& health) {
    seen.push_back(Name(health));
    return seen.back() == "UNAVAILABLE";
  });
  EXPECT_EQ(Name(last), "NOT_SERVING");
  EXPECT_EQ(seen.size(), 11U);
  EXPECT_EQ(seen.back(), "NOT_SERVING");
}

}  // namespace
}  // namespace trelu::command
