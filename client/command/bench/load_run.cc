#include "client/command/bench/load_run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace trelu::command {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr std::chrono::seconds kGrace{1};

class LoadRun {
 public:
  LoadRun(const LoadPlan& plan, LoadTarget& target, Clock& clock, const LoadObserver& observer)
      : plan_(plan),
        target_(target),
        clock_(clock),
        observer_(observer),
        start_(clock.Now()),
        measured_from_(start_ + plan.warmup),
        end_(measured_from_ + plan.duration),
        next_tick_(start_ + kTick),
        slots_(plan.in_flight) {
    for (std::size_t slot = plan.in_flight; slot > 0; --slot) free_.push_back(slot - 1);
  }

  LoadResult Run() {
    if (plan_.rate) {
      SendWhenDue();
    } else {
      free_.clear();
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) SendAgainAndAgain(slot);
    }
    WaitForAnswers();

    result_.tally = tally_.Sum();
    result_.abandoned = abandoned_;
    const TimePoint end = limit_reached_ && result_.tally.answered_in_window > 0
                              ? result_.tally.last_answer
                              : end_.load();
    result_.window = std::max(end - measured_from_, TimePoint::duration::zero());
    return std::move(result_);
  }

 private:
  enum class SendState { kIdle, kSending, kSent, kAnswered };
  struct Slot {
    TimePoint due;
    std::atomic<SendState> state = SendState::kIdle;
  };

  // The closed loop of one slot. Returns when an answer is awaited, which then goes on from its own
  // thread, or when the slot is free for good. Answers that come before Send returns are taken up
  // by this loop and not by calling it again, however many there are.
  void SendAgainAndAgain(std::size_t index) {
    Slot& slot = slots_[index];
    while (true) {
      // Before looking at stopping_: Abandon() sets that first and then waits for senders.
      slot.state = SendState::kSending;
      const TimePoint now = clock_.Now();
      if (stopping_ || now >= end_.load() || !TakeTurn(now)) {
        slot.state = SendState::kIdle;
        Free(index);
        return;
      }
      slot.due = now;
      target_.Send(index, [this, index](const absl::Status& status) {
        Record(slots_[index].due, status);
        if (slots_[index].state.exchange(SendState::kAnswered) == SendState::kSent) {
          SendAgainAndAgain(index);
        }
      });
      if (slot.state.exchange(SendState::kSent) == SendState::kSending) return;
    }
  }

  // The open loop, on this thread.
  void SendWhenDue() {
    ArrivalTimes arrivals(plan_.arrivals, *plan_.rate, plan_.seed);
    TimePoint due = start_ + arrivals.Next();
    for (; due < end_.load(); due = start_ + arrivals.Next()) {
      if (!TakeTurn(due)) return;
      WaitUntilDue(due);
      if (stopping_) break;
      const std::optional<std::size_t> slot = TakeSlot(due);
      if (!slot) break;
      slots_[*slot].due = due;
      if (due >= measured_from_) result_.lateness.Record(clock_.Now() - due);
      target_.Send(*slot, [this, slot = *slot](const absl::Status& status) {
        Record(slots_[slot].due, status);
        Free(slot);
      });
    }
    const TimePoint from = std::max(due, measured_from_);
    if (from < end_.load()) {
      const std::chrono::duration<double> left = end_.load() - from;
      // The tolerance keeps a rounding error from counting a request that is due at the very end.
      result_.never_sent = static_cast<std::uint64_t>(std::ceil(left.count() * *plan_.rate - 1e-6));
    }
  }

  // False when the request due then is one more than the plan allows.
  bool TakeTurn(TimePoint due) {
    if (plan_.max_requests == 0 || due < measured_from_) return true;
    if (turns_.fetch_add(1) < plan_.max_requests) return true;
    limit_reached_ = true;
    return false;
  }

  void WaitUntilDue(TimePoint due) {
    std::unique_lock lock(mutex_);
    for (TimePoint now = clock_.Now(); now < due || now >= next_tick_; now = clock_.Now()) {
      Tick(lock, now);
      if (stopping_) return;
      if (now < due) clock_.WaitUntil(lock, wake_, std::min(due, next_tick_));
    }
  }

  // Nothing when the run ends before a slot is free.
  std::optional<std::size_t> TakeSlot(TimePoint due) {
    std::unique_lock lock(mutex_);
    if (free_.empty() && due >= measured_from_) ++result_.waited_for_slot;
    waiting_ = true;
    while (free_.empty()) {
      const TimePoint now = clock_.Now();
      Tick(lock, now);
      if (stopping_ || now >= end_.load()) return std::nullopt;
      if (free_.empty()) clock_.WaitUntil(lock, wake_, std::min(end_.load(), next_tick_));
    }
    waiting_ = false;
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void Free(std::size_t slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);
    // Under the lock, since whoever is woken may destroy this object. Only when awaited: the open
    // loop sleeps for the next due time, from which answers should not wake it.
    if (waiting_) wake_.notify_one();
  }

  void WaitForAnswers() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    while (free_.size() < slots_.size()) {
      const TimePoint now = clock_.Now();
      Tick(lock, now);
      if (stopping_ && !abandoning_ && now >= abandon_at_) Abandon(lock);
      if (free_.size() == slots_.size()) return;
      const bool grace = stopping_ && !abandoning_;
      clock_.WaitUntil(lock, wake_, grace ? std::min(abandon_at_, next_tick_) : next_tick_);
    }
  }

  // Calls the observer when it is time, with `lock` let go meanwhile.
  void Tick(std::unique_lock<std::mutex>& lock, TimePoint now) {
    if (now < next_tick_) return;
    next_tick_ = now + kTick;
    if (!observer_ || stopping_) return;
    lock.unlock();
    const Tally sum = tally_.Sum();
    LoadProgress progress{.elapsed = now - start_, .answered = sum.answered_in_window};
    for (const auto& [code, failures] : sum.failures) progress.failed += failures.count;
    const bool go_on = observer_(progress);
    lock.lock();
    if (go_on) return;
    stopping_ = true;
    result_.interrupted = true;
    end_ = std::min(end_.load(), now);
    abandon_at_ = now + kGrace;
  }

  void Abandon(std::unique_lock<std::mutex>& lock) {
    abandoning_ = true;
    lock.unlock();
    for (const Slot& slot : slots_) {
      while (slot.state == SendState::kSending) std::this_thread::yield();
    }
    target_.Abandon();
    lock.lock();
  }

  void Record(TimePoint due, const absl::Status& status) {
    const TimePoint now = clock_.Now();
    if (abandoning_) {
      ++abandoned_;
      return;
    }
    tally_.With([&](Tally& tally) {
      if (!status.ok()) {
        Failures& failures = tally.failures[status.code()];
        if (failures.count++ == 0) failures.first_message = std::string(status.message());
        return;
      }
      if (due >= measured_from_) tally.latency.Record(now - due);
      if (now >= measured_from_ && (now <= end_.load() || limit_reached_)) {
        ++tally.answered_in_window;
        tally.last_answer = std::max(tally.last_answer, now);
      }
    });
  }

  SharedTally tally_;  // first, as the most aligned
  const LoadPlan& plan_;
  LoadTarget& target_;
  Clock& clock_;
  const LoadObserver& observer_;
  const TimePoint start_;
  const TimePoint measured_from_;
  std::atomic<TimePoint> end_;  // moved forward by an interruption
  std::atomic<std::uint64_t> turns_ = 0;
  std::atomic<std::uint64_t> abandoned_ = 0;

  // Of the thread that runs.
  TimePoint next_tick_;
  TimePoint abandon_at_;
  LoadResult result_;

  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::size_t> free_;  // guarded by mutex_
  bool waiting_ = false;           // guarded by mutex_: whether Free should wake
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> abandoning_ = false;
  std::atomic<bool> limit_reached_ = false;
};

}  // namespace

LoadResult RunLoad(const LoadPlan& plan, LoadTarget& target, Clock& clock,
                   const LoadObserver& observer) {
  return LoadRun(plan, target, clock, observer).Run();
}

}  // namespace trelu::command
