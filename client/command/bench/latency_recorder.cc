#include "client/command/bench/latency_recorder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace trelu::command {
namespace {

constexpr int kBitsKept = 8;  // the leading bits of a value that choose its bucket
constexpr std::uint64_t kPerDoubling = std::uint64_t{1} << (kBitsKept - 1);
constexpr std::size_t kBuckets = (63 - kBitsKept + 2) * kPerDoubling;

// A value shifted right until kBitsKept bits are left lies in [kPerDoubling, 2 * kPerDoubling), so
// consecutive shifts fill consecutive runs of kPerDoubling buckets.
std::size_t BucketOf(std::uint64_t value) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kBitsKept);
  return static_cast<std::size_t>(shift) * kPerDoubling + (value >> shift);
}

std::uint64_t MiddleOf(std::size_t bucket) {
  if (bucket < 2 * kPerDoubling) return bucket;
  const std::size_t shift = bucket / kPerDoubling - 1;
  const std::uint64_t low = (bucket - shift * kPerDoubling) << shift;
  return low + (std::uint64_t{1} << (shift - 1));
}

std::chrono::nanoseconds Nanoseconds(std::uint64_t ns) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
}

}  // namespace

LatencyRecorder::LatencyRecorder() : buckets_(kBuckets) {}

void LatencyRecorder::Record(std::chrono::nanoseconds latency) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, latency.count()));
  ++buckets_[BucketOf(ns)];
  ++count_;
  sum_ns_ += ns;
  min_ns_ = std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
}

void LatencyRecorder::Merge(const LatencyRecorder& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

std::chrono::nanoseconds LatencyRecorder::min() const {
  return Nanoseconds(count_ == 0 ? 0 : min_ns_);
}

std::chrono::nanoseconds LatencyRecorder::max() const { return Nanoseconds(max_ns_); }

std::chrono::nanoseconds LatencyRecorder::mean() const {
  return Nanoseconds(count_ == 0 ? 0 : sum_ns_ / count_);
}

std::chrono::nanoseconds LatencyRecorder::Quantile(double q) const {
  if (count_ == 0) return {};
  // 0.07 * 100 is a little more than 7: without the tolerance the rank would be 8.
  const double exact = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_) * (1 - 1e-12);
  const std::uint64_t rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact)), 1, count_);
  if (rank == 1) return min();
  if (rank == count_) return max();
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while ((seen += buckets_[bucket]) < rank) ++bucket;
  return Nanoseconds(std::clamp(MiddleOf(bucket), min_ns_, max_ns_));
}

}  // namespace trelu::command
