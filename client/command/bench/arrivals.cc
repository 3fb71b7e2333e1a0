#include "client/command/bench/arrivals.h"

#include <cmath>

namespace trelu::command {

ArrivalTimes::ArrivalTimes(Arrivals arrivals, double rate, std::uint64_t seed)
    : arrivals_(arrivals), mean_gap_ns_(1e9 / rate), random_(seed) {}

std::chrono::nanoseconds ArrivalTimes::Next() {
  if (arrivals_ == Arrivals::kUniform) {
    // By index, not by adding up, so that no rounding error accumulates.
    last_ns_ = static_cast<double>(index_++) * mean_gap_ns_;
  } else {
    const double uniform = std::ldexp(static_cast<double>(random_() >> 11), -53);  // in [0, 1)
    last_ns_ -= std::log1p(-uniform) * mean_gap_ns_;
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(last_ns_));
}

}  // namespace trelu::command
