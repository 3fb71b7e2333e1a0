// Latencies in constant memory, with quantiles that are right within half a percent.
#ifndef TRELU_CLIENT_COMMAND_BENCH_LATENCY_RECORDER_H_
#define TRELU_CLIENT_COMMAND_BENCH_LATENCY_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <vector>

namespace trelu::command {

// A log-linear histogram of nanoseconds: one bucket per value below 256 ns, above that 128 buckets
// per doubling, up to the largest int64. Count, least, greatest and mean are exact. About 57 KiB,
// allocated once. One thread at a time: give each thread its own and merge.
class LatencyRecorder {
 public:
  LatencyRecorder();

  // A negative latency counts as zero.
  void Record(std::chrono::nanoseconds latency);

  // As if everything that `other` recorded had been recorded here.
  void Merge(const LatencyRecorder& other);

  std::uint64_t count() const { return count_; }
  // Zero while nothing is recorded, as are the two below.
  std::chrono::nanoseconds min() const;
  std::chrono::nanoseconds max() const;
  std::chrono::nanoseconds mean() const;

  // The least recorded latency that at least the share `q` of all do not exceed (nearest rank),
  // within 0.4 %, the least and the greatest exactly; q is clamped to [0, 1]. Zero while nothing is
  // recorded.
  std::chrono::nanoseconds Quantile(double q) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t min_ns_ = UINT64_MAX;
  std::uint64_t max_ns_ = 0;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_LATENCY_RECORDER_H_
