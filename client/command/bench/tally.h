// What came of the requests of a load, gathered from many threads.
#ifndef TRELU_CLIENT_COMMAND_BENCH_TALLY_H_
#define TRELU_CLIENT_COMMAND_BENCH_TALLY_H_

#include <absl/status/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "client/command/bench/clock.h"
#include "client/command/bench/latency_recorder.h"

namespace trelu::command {

// Failures with one status code.
struct Failures {
  std::uint64_t count = 0;
  std::string first_message;
};

// Counts of one thread's requests, or the sum of several threads'.
struct Tally {
  LatencyRecorder latency;                        // of successful, measured requests
  std::uint64_t answered_in_window = 0;           // successful, by the time of their answer
  TimePoint last_answer = TimePoint::min();       // in the window
  std::map<absl::StatusCode, Failures> failures;  // of all requests, those of the warm-up too

  void Merge(const Tally& other);
};

// A tally that any thread may add to: each thread has a part of its own, so that they seldom meet.
class SharedTally {
 public:
  // Calls `add` with this thread's part, which is locked meanwhile.
  template <typename Add>
  void With(Add add) {
    Part& part = parts_[ThisThread() % kParts];
    const std::lock_guard lock(part.mutex);
    add(part.tally);
  }

  // The sum of all parts. May be called while others add.
  Tally Sum() const;

 private:
  static constexpr std::size_t kParts = 16;
  struct alignas(64) Part {
    mutable std::mutex mutex;
    Tally tally;
  };

  // A small number that is this thread's alone.
  static std::size_t ThisThread();

  std::array<Part, kParts> parts_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_TALLY_H_
