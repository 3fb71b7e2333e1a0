#include "server/models/model_statistics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace trelu::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

constexpr InferDurations kDurations = {.total = nanoseconds(100),
                                       .queue = nanoseconds(1),
                                       .compute_input = nanoseconds(2),
                                       .compute_infer = nanoseconds(30),
                                       .compute_output = nanoseconds(4)};

void ExpectDuration(const ModelStatisticsReading::Duration& got, std::uint64_t count,
                    std::uint64_t ns) {
  EXPECT_EQ(got.count, count);
  EXPECT_EQ(got.ns, ns);
}

TEST(ModelStatistics, BeginAtNothing) {
  const ModelStatisticsReading reading = ModelStatistics().Read();
  ExpectDuration(reading.success, 0, 0);
  ExpectDuration(reading.fail, 0, 0);
  ExpectDuration(reading.queue, 0, 0);
  EXPECT_EQ(reading.inference_count, 0U);
  EXPECT_EQ(reading.last_inference_ms, 0U);
}

TEST(ModelStatistics, AddUpWhatSucceeded) {
  ModelStatistics statistics;
  statistics.Record(kDurations, true, system_clock::time_point(milliseconds(1234)));
  statistics.Record(kDurations, true, system_clock::time_point(milliseconds(5678)));
  const ModelStatisticsReading reading = statistics.Read();
  ExpectDuration(reading.success, 2, 200);
  ExpectDuration(reading.fail, 0, 0);
  ExpectDuration(reading.queue, 2, 2);
  ExpectDuration(reading.compute_input, 2, 4);
  ExpectDuration(reading.compute_infer, 2, 60);
  ExpectDuration(reading.compute_output, 2, 8);
  EXPECT_EQ(reading.inference_count, 2U);
  EXPECT_EQ(reading.execution_count, 2U);
  EXPECT_EQ(reading.last_inference_ms, 5678U);
}

TEST(ModelStatistics, CountFailuresApart) {
  ModelStatistics statistics;
  statistics.Record(kDurations, false);
  const ModelStatisticsReading reading = statistics.Read();
  ExpectDuration(reading.success, 0, 0);
  ExpectDuration(reading.fail, 1, 100);
  ExpectDuration(reading.queue, 0, 0);
  ExpectDuration(reading.compute_infer, 0, 0);
  EXPECT_EQ(reading.inference_count, 0U);
  EXPECT_EQ(reading.last_inference_ms, 0U);
}

TEST(ModelStatistics, KeepTheLatestTime) {
  ModelStatistics statistics;
  statistics.Record(kDurations, true, system_clock::time_point(milliseconds(5678)));
  statistics.Record(kDurations, true, system_clock::time_point(milliseconds(1234)));
  EXPECT_EQ(statistics.Read().last_inference_ms, 5678U);
}

TEST(ModelStatistics, TakeTheClocksTimeByThemselves) {
  const auto ms_now = [] {
    return std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch());
  };
  ModelStatistics statistics;
  const auto before = static_cast<std::uint64_t>(ms_now().count());
  statistics.Record(kDurations, true);
  EXPECT_GE(statistics.Read().last_inference_ms, before);
  EXPECT_LE(statistics.Read().last_inference_ms, static_cast<std::uint64_t>(ms_now().count()));
}

TEST(ModelStatistics, CountNegativeDurationsAsNone) {
  ModelStatistics statistics;
  statistics.Record({.total = nanoseconds(-5), .queue = nanoseconds(-1)}, true);
  ExpectDuration(statistics.Read().success, 1, 0);
  ExpectDuration(statistics.Read().queue, 1, 0);
}

TEST(ModelStatistics, AreExactAfterManyThreads) {
  constexpr std::uint64_t kThreads = 12;  // more than shards
  constexpr std::uint64_t kRequests = 10000;
  ModelStatistics statistics;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::uint64_t last = 0;
    while (!done) {
      const std::uint64_t count = statistics.Read().success.count;
      EXPECT_GE(count, last);
      last = count;
    }
  });
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::uint64_t request = 1; request <= kRequests; ++request) {
        statistics.Record(kDurations, request % 4 != 0,
                          system_clock::time_point(milliseconds(request * kThreads + i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  const ModelStatisticsReading reading = statistics.Read();
  constexpr std::uint64_t kSucceeded = kThreads * kRequests / 4 * 3;
  ExpectDuration(reading.success, kSucceeded, 100 * kSucceeded);
  ExpectDuration(reading.compute_infer, kSucceeded, 30 * kSucceeded);
  ExpectDuration(reading.fail, kThreads * kRequests / 4, 100 * kThreads * kRequests / 4);
  EXPECT_EQ(reading.last_inference_ms, (kRequests - 1) * kThreads + kThreads - 1);
}

}  // namespace
}  // namespace trelu::server
