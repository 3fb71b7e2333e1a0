// Puts a load on a target for a while and measures: in a closed loop, where each of a number of
// callers sends again when it has its answer, or in an open loop, where requests are due at times
// of their own.
#ifndef TRELU_CLIENT_COMMAND_BENCH_LOAD_RUN_H_
#define TRELU_CLIENT_COMMAND_BENCH_LOAD_RUN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "client/command/bench/arrivals.h"
#include "client/command/bench/clock.h"
#include "client/command/bench/latency_recorder.h"
#include "client/command/bench/load_target.h"
#include "client/command/bench/tally.h"

namespace trelu::command {

struct LoadPlan {
  // Requests in flight: always so many in a closed loop, at most so many in an open one.
  std::size_t in_flight = 1;
  // Requests a second, which makes the loop an open one.
  std::optional<double> rate{};
  // Of the open loop.
  Arrivals arrivals = Arrivals::kPoisson;
  std::uint64_t seed = 1;
  // Requests due before the end of the warm-up are sent but not measured.
  std::chrono::nanoseconds warmup{0};
  // The time after the warm-up during which requests are sent.
  std::chrono::nanoseconds duration = std::chrono::seconds(10);
  // Ends the run after so many measured requests; zero: no limit.
  std::uint64_t max_requests = 0;
};

// How far a run is.
struct LoadProgress {
  std::chrono::nanoseconds elapsed{};  // since the start, warm-up included
  std::uint64_t answered = 0;          // successful ones, after the warm-up
  std::uint64_t failed = 0;
};

// Called on the thread of RunLoad a few times a second; false ends the run early.
using LoadObserver = std::function<bool(const LoadProgress&)>;

struct LoadResult {
  // A measured request is one that was due after the warm-up. Its latency runs from the moment it
  // was due, not from when it could be sent, so a stall of the target is counted in full (no
  // "coordinated omission"). Answers are waited for after the end, so slow ones are not lost.
  Tally tally;
  // The measured time; answered_in_window / window is the rate.
  std::chrono::nanoseconds window{};
  // Open loop, measured requests: from due to sent.
  LatencyRecorder lateness;
  // Open loop: how often all in_flight slots were taken when a request was due; and the requests
  // that were due and could not be sent before the end. Latencies are a lower bound when that is
  // not zero.
  std::uint64_t waited_for_slot = 0;
  std::uint64_t never_sent = 0;
  // The observer ended the run. Requests that were then still without answer are counted nowhere
  // else.
  bool interrupted = false;
  std::uint64_t abandoned = 0;
};

// Runs `plan`, whose in_flight and rate are above zero, on `target` and returns when no request
// is in flight. After an interruption answers are waited for one second, then the target is told
// to abandon what is left.
LoadResult RunLoad(const LoadPlan& plan, LoadTarget& target, Clock& clock,
                   const LoadObserver& observer = nullptr);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_LOAD_RUN_H_
