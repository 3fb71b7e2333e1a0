#include "server/sharded_histogram.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace trelu::server {

ShardedHistogram::ShardedHistogram(std::vector<std::uint64_t> bounds, double scale)
    : bounds_(std::move(bounds)), scale_(scale) {
  assert(bounds_.size() <= kMaxBounds);
  assert(std::is_sorted(bounds_.begin(), bounds_.end()));
}

void ShardedHistogram::Observe(std::uint64_t value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  counters_.Add(static_cast<std::size_t>(bound - bounds_.begin()));
  counters_.Add(kSum, value);
}

prometheus::ClientMetric::Histogram ShardedHistogram::Fold() const {
  prometheus::ClientMetric::Histogram folded;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    count += counters_.Sum(i);
    folded.bucket.push_back({count, static_cast<double>(bounds_[i]) * scale_});
  }
  folded.sample_count = count + counters_.Sum(bounds_.size());
  folded.sample_sum = static_cast<double>(counters_.Sum(kSum)) * scale_;
  return folded;
}

std::vector<std::uint64_t> DurationBounds() {
  std::vector<std::uint64_t> bounds;
  constexpr std::uint64_t kMicrosecond = 1'000;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  for (std::uint64_t decade = 10 * kMicrosecond; decade < 10 * kSecond; decade *= 10) {
    bounds.insert(bounds.end(), {decade, decade * 5 / 2, decade * 5});
  }
  bounds.push_back(10 * kSecond);
  return bounds;
}

std::vector<std::uint64_t> ByteBounds() {
  std::vector<std::uint64_t> bounds;
  for (std::uint64_t bytes = 64; bytes <= std::uint64_t{16} << 30; bytes *= 4)
    bounds.push_back(bytes);
  return bounds;
}

}  // namespace trelu::server
