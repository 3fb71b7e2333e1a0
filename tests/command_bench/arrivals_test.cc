#include "client/command/bench/arrivals.h"

#include <gmock/gmock.h>

#include <vector>

namespace trelu::command {
namespace {

using std::chrono::nanoseconds;

TEST(ArrivalTimesTest, UniformIsAGridWithoutAccumulatedError) {
  ArrivalTimes times(Arrivals::kUniform, 3, 0);
  std::vector<nanoseconds> first(4);
  for (nanoseconds& time : first) time = times.Next();
  EXPECT_THAT(first, testing::ElementsAre(nanoseconds(0), nanoseconds(333'333'333),
                                          nanoseconds(666'666'666), nanoseconds(1'000'000'000)));
  for (int i = 4; i < 3'000'000; ++i) times.Next();
  EXPECT_EQ(times.Next(), std::chrono::seconds(1'000'000));
}

TEST(ArrivalTimesTest, PoissonHasTheRateAndTheSpreadOfAnExponential) {
  constexpr int kCount = 200'000;
  ArrivalTimes times(Arrivals::kPoisson, 1000, 42);
  double sum = 0;
  double squares = 0;
  int short_gaps = 0;  // shorter than the mean: 1 - 1/e of all
  nanoseconds last{0};
  for (int i = 0; i < kCount; ++i) {
    const nanoseconds time = times.Next();
    ASSERT_GE(time, last);
    const double gap_ms = std::chrono::duration<double, std::milli>(time - last).count();
    sum += gap_ms;
    squares += gap_ms * gap_ms;
    short_gaps += gap_ms < 1 ? 1 : 0;
    last = time;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 1, 0.01);
  EXPECT_NEAR(squares / kCount - mean * mean, 1, 0.03);
  EXPECT_NEAR(static_cast<double>(short_gaps) / kCount, 0.632, 0.005);
}

TEST(ArrivalTimesTest, TheSeedDecides) {
  ArrivalTimes a(Arrivals::kPoisson, 10, 1);
  ArrivalTimes same(Arrivals::kPoisson, 10, 1);
  ArrivalTimes other(Arrivals::kPoisson, 10, 2);
  const nanoseconds first = a.Next();
  EXPECT_EQ(same.Next(), first);
  EXPECT_NE(other.Next(), first);
}

}  // namespace
}  // namespace trelu::command
