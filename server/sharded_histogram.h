// A histogram without locks: each thread counts in a shard of its own, folded together when read.
#ifndef TRELU_SERVER_SHARDED_HISTOGRAM_H_
#define TRELU_SERVER_SHARDED_HISTOGRAM_H_

#include <prometheus/client_metric.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/sharded_counters.h"

namespace trelu::server {

// Values are whole numbers of a small unit (nanoseconds, bytes), so that sums are exact. Any
// thread.
class ShardedHistogram {
 public:
  static constexpr std::size_t kMaxBounds = 30;

  // `bounds` rise, at most kMaxBounds of them; a value equal to a bound belongs to its bucket.
  // Bounds and sum are multiplied by `scale` when folded (1e-9 turns nanoseconds into seconds).
  ShardedHistogram(std::vector<std::uint64_t> bounds, double scale);

  void Observe(std::uint64_t value);

  // sample_count is the sum over the buckets; the sum may be ahead of it or behind it by values
  // that are being observed meanwhile.
  prometheus::ClientMetric::Histogram Fold() const;

 private:
  static constexpr std::size_t kSum = kMaxBounds + 1;

  const std::vector<std::uint64_t> bounds_;
  const double scale_;
  // A bucket for each bound, one for what is above them all, and the sum.
  ShardedCounters<kMaxBounds + 2> counters_;
};

// 10 us to 10 s, in nanoseconds; for ShardedHistogram with scale 1e-9.
std::vector<std::uint64_t> DurationBounds();
// Powers of 4 from 64 B to 16 GiB.
std::vector<std::uint64_t> ByteBounds();

}  // namespace trelu::server

#endif  // TRELU_SERVER_SHARDED_HISTOGRAM_H_
