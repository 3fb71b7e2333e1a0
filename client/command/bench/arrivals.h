// When the requests of an open loop are due.
#ifndef TRELU_CLIENT_COMMAND_BENCH_ARRIVALS_H_
#define TRELU_CLIENT_COMMAND_BENCH_ARRIVALS_H_

#include <chrono>
#include <cstdint>
#include <random>

namespace trelu::command {

enum class Arrivals {
  kUniform,  // at equal distances
  kPoisson,  // independent of each other, as from many callers: exponential distances
};

// An endless list of due times, as offsets from the start, in order. The same seed gives the same
// list.
class ArrivalTimes {
 public:
  // `rate` is in requests a second and above zero. `seed` matters to kPoisson alone.
  ArrivalTimes(Arrivals arrivals, double rate, std::uint64_t seed);

  // The next due time. Uniform arrivals begin at zero.
  std::chrono::nanoseconds Next();

 private:
  Arrivals arrivals_;
  double mean_gap_ns_;
  std::uint64_t index_ = 0;
  double last_ns_ = 0;
  std::mt19937_64 random_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_ARRIVALS_H_
