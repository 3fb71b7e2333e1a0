#include "server/sharded_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace trelu::server {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> CumulativeCounts(const ShardedHistogram& histogram) {
  std::vector<std::uint64_t> counts;
  for (const auto& bucket : histogram.Fold().bucket) counts.push_back(bucket.cumulative_count);
  return counts;
}

TEST(ShardedHistogramTest, CountsABoundIntoItsOwnBucket) {
  ShardedHistogram histogram({10, 20}, 1);
  histogram.Observe(10);
  EXPECT_THAT(CumulativeCounts(histogram), ElementsAre(1, 1));
  histogram.Observe(11);
  EXPECT_THAT(CumulativeCounts(histogram), ElementsAre(1, 2));
  histogram.Observe(20);
  EXPECT_THAT(CumulativeCounts(histogram), ElementsAre(1, 3));
  histogram.Observe(21);
  EXPECT_THAT(CumulativeCounts(histogram), ElementsAre(1, 3));
  EXPECT_EQ(histogram.Fold().sample_count, 4U);
  EXPECT_EQ(histogram.Fold().sample_sum, 62);
}

TEST(ShardedHistogramTest, TakesZeroAndTheLargest) {
  ShardedHistogram histogram({10}, 1);
  histogram.Observe(0);
  histogram.Observe(~std::uint64_t{0});
  EXPECT_THAT(CumulativeCounts(histogram), ElementsAre(1));
  EXPECT_EQ(histogram.Fold().sample_count, 2U);
}

TEST(ShardedHistogramTest, ScalesBoundsAndSum) {
  ShardedHistogram histogram({1'000'000'000}, 1e-9);
  histogram.Observe(500'000'000);
  EXPECT_EQ(histogram.Fold().bucket.front().upper_bound, 1);
  EXPECT_EQ(histogram.Fold().sample_sum, 0.5);
}

TEST(ShardedHistogramTest, HasBoundsOfUseToUs) {
  const std::vector<std::uint64_t> durations = DurationBounds();
  EXPECT_EQ(durations.front(), 10'000U);
  EXPECT_EQ(durations.back(), 10'000'000'000U);
  EXPECT_LE(durations.size(), ShardedHistogram::kMaxBounds);
  const std::vector<std::uint64_t> bytes = ByteBounds();
  EXPECT_EQ(bytes.front(), 64U);
  EXPECT_EQ(bytes.back(), std::uint64_t{16} << 30);
  EXPECT_LE(bytes.size(), ShardedHistogram::kMaxBounds);
}

TEST(ShardedHistogramTest, IsExactAfterManyThreads) {
  constexpr int kThreads = 12;  // more than shards
  constexpr int kValues = 20000;
  ShardedHistogram histogram({0, 1, 2}, 1);
  std::atomic<bool> done{false};
  std::thread scraper([&] {
    std::uint64_t last = 0;
    while (!done) {
      const auto folded = histogram.Fold();
      EXPECT_GE(folded.sample_count, last);
      last = folded.sample_count;
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t value = 0; value < kValues; ++value) histogram.Observe(value % 4);
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  scraper.join();
  constexpr std::uint64_t kQuarter = kThreads * kValues / 4;
  EXPECT_THAT(CumulativeCounts(histogram), ElementsAre(kQuarter, 2 * kQuarter, 3 * kQuarter));
  EXPECT_EQ(histogram.Fold().sample_count, 4 * kQuarter);
  EXPECT_EQ(histogram.Fold().sample_sum, 6 * kQuarter);
}

}  // namespace
}  // namespace trelu::server
