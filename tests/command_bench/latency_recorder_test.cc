#include "client/command/bench/latency_recorder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace trelu::command {
namespace {

using std::chrono::nanoseconds;

struct Distribution {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;
};

void PrintTo(const Distribution& distribution, std::ostream* out) { *out << distribution.name; }

class LatencyRecorderTest : public testing::TestWithParam<Distribution> {};

TEST_P(LatencyRecorderTest, QuantilesAreWithinOnePercentOfTheExactOnes) {
  std::mt19937_64 random(7);
  for (const std::size_t count : {1, 2, 3, 10, 999, 1000, 100'000}) {
    LatencyRecorder recorder;
    std::vector<std::int64_t> all(count);
    for (std::int64_t& ns : all) {
      ns = static_cast<std::int64_t>(GetParam().draw(random));
      recorder.Record(nanoseconds(ns));
    }
    std::sort(all.begin(), all.end());
    for (const double q : {0.0, 0.001, 0.07, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
      const auto rank =
          static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(count) - 1e-6)));
      const auto exact = static_cast<double>(all[rank - 1]);
      EXPECT_NEAR(static_cast<double>(recorder.Quantile(q).count()), exact, 0.004 * exact)
          << "q = " << q << ", count = " << count;
    }
    EXPECT_EQ(recorder.count(), count);
    EXPECT_EQ(recorder.min().count(), all.front());
    EXPECT_EQ(recorder.max().count(), all.back());
    EXPECT_EQ(recorder.Quantile(0).count(), all.front());
    EXPECT_LE(recorder.Quantile(1), recorder.max());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Distributions, LatencyRecorderTest,
    testing::Values(
        Distribution{"Tiny", [](auto& r) { return std::uniform_real_distribution(0.0, 300.0)(r); }},
        Distribution{"Uniform",
                     [](auto& r) { return std::uniform_real_distribution(0.0, 1e9)(r); }},
        Distribution{"LogNormal",
                     [](auto& r) { return std::lognormal_distribution(12.0, 2.0)(r); }},
        Distribution{"Exponential", [](auto& r) { return std::exponential_distribution(1e-6)(r); }},
        Distribution{"TwoModes", [](auto& r) { return r() % 100 == 0 ? 2e9 : 1e5; }}),
    [](const auto& info) { return info.param.name; });

TEST(LatencyRecorderEdgesTest, EveryPowerOfTwoAndItsNeighboursComeBackWithinHalfAPercent) {
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      const std::int64_t ns = (std::int64_t{1} << bit) + offset;
      LatencyRecorder recorder;
      // Around it, so that least and greatest do not give the answer away.
      recorder.Record(nanoseconds(0));
      recorder.Record(nanoseconds(ns));
      recorder.Record(nanoseconds(INT64_MAX));
      const auto value = static_cast<double>(ns);
      EXPECT_NEAR(static_cast<double>(recorder.Quantile(0.5).count()), value, 0.004 * value) << ns;
    }
  }
}

TEST(LatencyRecorderEdgesTest, NothingRecordedIsZero) {
  const LatencyRecorder recorder;
  EXPECT_EQ(recorder.count(), 0U);
  EXPECT_EQ(recorder.min().count(), 0);
  EXPECT_EQ(recorder.max().count(), 0);
  EXPECT_EQ(recorder.mean().count(), 0);
  EXPECT_EQ(recorder.Quantile(0.5).count(), 0);
}

TEST(LatencyRecorderEdgesTest, NegativeIsZeroAndTheMeanIsExact) {
  LatencyRecorder recorder;
  recorder.Record(nanoseconds(-5));
  recorder.Record(nanoseconds(1'000'001));
  EXPECT_EQ(recorder.min().count(), 0);
  EXPECT_EQ(recorder.mean().count(), 500'000);
}

TEST(LatencyRecorderMergeTest, MergedPartsEqualTheWhole) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> draw(12.0, 2.0);
  LatencyRecorder whole;
  std::vector<LatencyRecorder> parts(3);
  for (int i = 0; i < 30'000; ++i) {
    const nanoseconds ns(static_cast<std::int64_t>(draw(random)));
    whole.Record(ns);
    parts[static_cast<std::size_t>(i % 3)].Record(ns);
  }
  LatencyRecorder merged;
  for (const LatencyRecorder& part : parts) merged.Merge(part);
  merged.Merge(LatencyRecorder());  // nothing: must not disturb the least
  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  EXPECT_EQ(merged.mean(), whole.mean());
  for (const double q : {0.01, 0.5, 0.99, 0.999}) EXPECT_EQ(merged.Quantile(q), whole.Quantile(q));
}

}  // namespace
}  // namespace trelu::command
