#include "client/command/bench/load_run.h"

#include <gmock/gmock.h>

#include "tests/command_bench/simulation.h"

namespace trelu::command {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

SimulatedTarget::Service Always(nanoseconds time, absl::Status status = absl::OkStatus()) {
  return [=](std::size_t, TimePoint) { return SimulatedTarget::Answer{time, status}; };
}

LoadPlan OpenPlan(double rate, std::size_t in_flight, nanoseconds duration) {
  return {.in_flight = in_flight,
          .rate = rate,
          .arrivals = Arrivals::kUniform,
          .warmup = seconds(0),
          .duration = duration};
}

double Milliseconds(nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

TEST(OpenLoopTest, SendsWhenDueAndMeasuresFromThen) {
  SimulatedClock clock;
  SimulatedTarget target(clock, Always(milliseconds(2)));
  const TimePoint start = clock.Now();
  const LoadResult result = RunLoad(OpenPlan(100, 4, seconds(1)), target, clock);
  ASSERT_EQ(target.sent().size(), 100U);
  for (std::size_t i = 0; i < target.sent().size(); ++i) {
    EXPECT_EQ(target.sent()[i].when, start + i * milliseconds(10));
  }
  EXPECT_EQ(result.tally.answered_in_window, 100U);
  EXPECT_EQ(result.window, seconds(1));
  EXPECT_EQ(result.tally.latency.min(), milliseconds(2));
  EXPECT_EQ(result.tally.latency.max(), milliseconds(2));
  EXPECT_EQ(result.lateness.count(), 100U);
  EXPECT_EQ(result.lateness.max(), nanoseconds(0));
  EXPECT_EQ(result.waited_for_slot, 0U);
  EXPECT_EQ(result.never_sent, 0U);
}

// One request in flight and a server that stands still for a second: measured from when they could
// be sent, 99 of 100 latencies would be 1 ms.
TEST(OpenLoopTest, AStallCountsForEveryRequestThatWasDueInIt) {
  SimulatedClock clock;
  const TimePoint start = clock.Now();
  SimulatedTarget target(clock, [&](std::size_t, TimePoint begin) {
    const bool stalled = begin == start + seconds(1);
    return SimulatedTarget::Answer{stalled ? seconds(1) : milliseconds(1), absl::OkStatus()};
  });
  const LoadResult result = RunLoad(OpenPlan(10, 1, seconds(10)), target, clock);
  EXPECT_EQ(result.tally.latency.count(), 100U);
  // The ten requests due in the stall: 1000, 901, 802, ... ms.
  EXPECT_EQ(result.tally.latency.max(), seconds(1));
  EXPECT_NEAR(Milliseconds(result.tally.latency.Quantile(0.99)), 901, 4);
  EXPECT_NEAR(Milliseconds(result.tally.latency.Quantile(0.91)), 109, 1);
  EXPECT_NEAR(Milliseconds(result.tally.latency.Quantile(0.5)), 1, 0.01);
  EXPECT_EQ(result.waited_for_slot, 10U);
  EXPECT_EQ(result.lateness.max(), milliseconds(900));
}

TEST(OpenLoopTest, NeverMoreInFlightThanSlots) {
  SimulatedClock clock;
  std::size_t in_flight = 0;
  std::size_t most = 0;
  class Counting final : public LoadTarget {
   public:
    Counting(SimulatedClock& clock, std::size_t& now, std::size_t& most)
        : clock_(clock), now_(now), most_(most) {}
    void Send(std::size_t, Done done) override {
      most_ = std::max(most_, ++now_);
      clock_.At(clock_.Now() + milliseconds(50), [this, done = std::move(done)] {
        --now_;
        done(absl::OkStatus());
      });
    }
    void Abandon() override {}

   private:
    SimulatedClock& clock_;
    std::size_t& now_;
    std::size_t& most_;
  } target(clock, in_flight, most);
  const LoadResult result = RunLoad(OpenPlan(1000, 3, seconds(1)), target, clock);
  EXPECT_EQ(most, 3U);
  EXPECT_EQ(in_flight, 0U);
  // 3 in 50 ms.
  EXPECT_NEAR(static_cast<double>(result.tally.answered_in_window), 60, 3);
}

TEST(OpenLoopTest, WhatCouldNotBeSentIsCounted) {
  SimulatedClock clock;
  SimulatedTarget target(clock, Always(milliseconds(100)));
  const LoadResult result = RunLoad(OpenPlan(100, 1, seconds(1)), target, clock);
  EXPECT_EQ(result.tally.latency.count(), target.sent().size());
  EXPECT_EQ(result.never_sent + target.sent().size(), 100U);
  EXPECT_NEAR(static_cast<double>(target.sent().size()), 10, 1);
}

TEST(OpenLoopTest, AGeneratorThatIsLateSaysSoAndCatchesUp) {
  SimulatedClock clock;
  const TimePoint start = clock.Now();
  SimulatedTarget target(clock, Always(milliseconds(1)));
  clock.At(start + milliseconds(105), [&] { clock.Advance(milliseconds(45)); });
  const LoadResult result = RunLoad(OpenPlan(100, 8, seconds(1)), target, clock);
  EXPECT_EQ(target.sent().size(), 100U);
  EXPECT_EQ(target.sent().back().when, start + milliseconds(990));
  EXPECT_EQ(result.lateness.max(), milliseconds(40));  // due at 110, sent at 150
  EXPECT_EQ(result.waited_for_slot, 0U);
  EXPECT_GE(result.tally.latency.max(), milliseconds(41));
}

TEST(OpenLoopTest, WarmUpIsSentAndNotMeasured) {
  SimulatedClock clock;
  const TimePoint start = clock.Now();
  SimulatedTarget target(clock, [&](std::size_t, TimePoint begin) {
    return SimulatedTarget::Answer{begin < start + seconds(1) ? milliseconds(9) : milliseconds(2),
                                   absl::OkStatus()};
  });
  LoadPlan plan = OpenPlan(100, 4, seconds(2));
  plan.warmup = seconds(1);
  const LoadResult result = RunLoad(plan, target, clock);
  EXPECT_EQ(target.sent().size(), 300U);
  EXPECT_EQ(result.tally.latency.count(), 200U);
  EXPECT_EQ(result.tally.latency.max(), milliseconds(2));
  EXPECT_EQ(result.lateness.count(), 200U);
  EXPECT_EQ(result.window, seconds(2));
}

TEST(OpenLoopTest, TheLimitOfRequestsEndsTheRun) {
  SimulatedClock clock;
  SimulatedTarget target(clock, Always(milliseconds(2)));
  LoadPlan plan = OpenPlan(100, 4, seconds(60));
  plan.max_requests = 5;
  const LoadResult result = RunLoad(plan, target, clock);
  EXPECT_EQ(target.sent().size(), 5U);
  EXPECT_EQ(result.tally.answered_in_window, 5U);
  EXPECT_EQ(result.never_sent, 0U);
  EXPECT_EQ(result.window, milliseconds(42));
}

TEST(ClosedLoopTest, EachSlotSendsAgainWhenItHasItsAnswer) {
  SimulatedClock clock;
  const TimePoint start = clock.Now();
  SimulatedTarget target(clock, Always(milliseconds(10)));
  const LoadResult result =
      RunLoad({.in_flight = 4, .warmup = milliseconds(100), .duration = seconds(1)}, target, clock);
  // The server does one after the other, so each of four waits for the three before it.
  EXPECT_EQ(result.tally.answered_in_window, 101U);  // both ends of the window included
  EXPECT_EQ(result.window, seconds(1));
  EXPECT_EQ(result.tally.latency.min(), milliseconds(40));
  EXPECT_EQ(result.tally.latency.max(), milliseconds(40));
  EXPECT_EQ(result.lateness.count(), 0U);
  EXPECT_LT(target.sent().back().when, start + milliseconds(1100));
  EXPECT_FALSE(result.interrupted);
}

TEST(ClosedLoopTest, SlowAnswersAfterTheEndKeepTheirLatency) {
  SimulatedClock clock;
  SimulatedTarget target(clock, Always(seconds(7)));
  const LoadResult result = RunLoad({.in_flight = 1, .duration = seconds(10)}, target, clock);
  EXPECT_EQ(result.tally.latency.count(), 2U);
  EXPECT_EQ(result.tally.answered_in_window, 1U);
}

TEST(ClosedLoopTest, AnswersBeforeSendReturnsDoNotRecurse) {
  SimulatedClock clock;
  SimulatedTarget target(clock, Always(nanoseconds(0)));
  const LoadResult result =
      RunLoad({.in_flight = 3, .duration = seconds(1), .max_requests = 200'000}, target, clock);
  EXPECT_EQ(target.sent().size(), 200'000U);
  EXPECT_EQ(result.tally.answered_in_window, 200'000U);
}

TEST(ClosedLoopTest, FailuresAreCountedByStatusAndHaveNoLatency) {
  SimulatedClock clock;
  SimulatedTarget target(clock, [](std::size_t request, TimePoint) {
    SimulatedTarget::Answer answer{milliseconds(1), absl::OkStatus()};
    if (request % 4 == 1) answer.status = absl::UnavailableError("full");
    if (request % 4 == 2) answer.status = absl::DataLossError("byte 7");
    return answer;
  });
  const LoadResult result =
      RunLoad({.in_flight = 1, .duration = seconds(60), .max_requests = 40}, target, clock);
  EXPECT_EQ(result.tally.latency.count(), 20U);
  ASSERT_EQ(result.tally.failures.size(), 2U);
  EXPECT_EQ(result.tally.failures.at(absl::StatusCode::kUnavailable).count, 10U);
  EXPECT_EQ(result.tally.failures.at(absl::StatusCode::kUnavailable).first_message, "full");
  EXPECT_EQ(result.tally.failures.at(absl::StatusCode::kDataLoss).count, 10U);
}

struct InterruptCase {
  std::string name;
  std::optional<double> rate;
};
void PrintTo(const InterruptCase& row, std::ostream* out) { *out << row.name; }

class InterruptTest : public testing::TestWithParam<InterruptCase> {};

TEST_P(InterruptTest, KeepsWhatWasMeasuredAndAbandonsWhatHangs) {
  SimulatedClock clock;
  const TimePoint start = clock.Now();
  SimulatedTarget target(clock, [](std::size_t request, TimePoint) {
    if (request == 3) return std::optional<SimulatedTarget::Answer>();
    return std::optional(SimulatedTarget::Answer{milliseconds(1), absl::OkStatus()});
  });
  LoadPlan plan{.in_flight = 2, .rate = GetParam().rate, .duration = seconds(3600)};
  plan.arrivals = Arrivals::kUniform;
  LoadProgress last;
  const LoadResult result = RunLoad(plan, target, clock, [&](const LoadProgress& progress) {
    last = progress;
    return progress.elapsed < seconds(2);
  });
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.abandoned, 1U);
  EXPECT_TRUE(result.tally.failures.empty());
  EXPECT_GT(result.tally.latency.count(), 100U);
  EXPECT_GT(last.answered, 100U);
  EXPECT_GE(result.window, seconds(2));
  EXPECT_LT(result.window, milliseconds(2200));
  EXPECT_LT(clock.Now(), start + seconds(4)) << "must not wait longer than the grace";
}

INSTANTIATE_TEST_SUITE_P(Loops, InterruptTest,
                         testing::Values(InterruptCase{"Closed", {}}, InterruptCase{"Open", 100.0}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trelu::command
