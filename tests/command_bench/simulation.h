// Time and a target that pass only when they are told to.
#ifndef TRELU_TESTS_COMMAND_BENCH_SIMULATION_H_
#define TRELU_TESTS_COMMAND_BENCH_SIMULATION_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "client/command/bench/clock.h"
#include "client/command/bench/load_target.h"

namespace trelu::command {

// A clock that stands still, except in WaitUntil: there it jumps to the next event, runs it and
// returns, or jumps to the deadline. One thread.
class SimulatedClock final : public Clock {
 public:
  TimePoint Now() const override { return now_; }

  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable&,
                 TimePoint deadline) override {
    if (events_.empty() || events_.begin()->first > deadline) {
      now_ = std::max(now_, deadline);
      return;
    }
    auto event = events_.extract(events_.begin());
    now_ = event.key();
    lock.unlock();
    event.mapped()();
    lock.lock();
  }

  void At(TimePoint when, std::function<void()> what) { events_.emplace(when, std::move(what)); }

  // As if the thread had been busy elsewhere.
  void Advance(std::chrono::nanoseconds time) { now_ += time; }

 private:
  TimePoint now_;
  std::multimap<TimePoint, std::function<void()>> events_;
};

// A server that works on one request after the other. For each, `service` says how long it takes
// from the moment the server turns to it, and how it ends; nothing means never.
class SimulatedTarget final : public LoadTarget {
 public:
  struct Answer {
    std::chrono::nanoseconds time{};
    absl::Status status;
  };
  using Service = std::function<std::optional<Answer>(std::size_t request, TimePoint begin)>;

  SimulatedTarget(SimulatedClock& clock, Service service)
      : clock_(clock), service_(std::move(service)) {}

  void Send(std::size_t slot, Done done) override {
    sent_.push_back({clock_.Now(), slot});
    const TimePoint begin = std::max(clock_.Now(), free_at_);
    const std::optional<Answer> answer = service_(sent_.size() - 1, begin);
    if (!answer) {
      hanging_.push_back(std::move(done));
      return;
    }
    if (answer->time.count() == 0) return done(answer->status);  // before Send returns
    free_at_ = begin + answer->time;
    clock_.At(free_at_, [done = std::move(done), status = answer->status] { done(status); });
  }

  void Abandon() override {
    for (Done& done : std::exchange(hanging_, {})) done(absl::CancelledError(""));
  }

  struct Sent {
    TimePoint when;
    std::size_t slot;
  };
  const std::vector<Sent>& sent() const { return sent_; }

 private:
  SimulatedClock& clock_;
  Service service_;
  TimePoint free_at_;
  std::vector<Sent> sent_;
  std::vector<Done> hanging_;
};

}  // namespace trelu::command

#endif  // TRELU_TESTS_COMMAND_BENCH_SIMULATION_H_
