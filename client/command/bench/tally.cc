#include "client/command/bench/tally.h"

#include <algorithm>
#include <atomic>

namespace trelu::command {

void Tally::Merge(const Tally& other) {
  latency.Merge(other.latency);
  answered_in_window += other.answered_in_window;
  last_answer = std::max(last_answer, other.last_answer);
  for (const auto& [code, failures] : other.failures) {
    Failures& mine = this->failures[code];
    if (mine.count == 0) mine.first_message = failures.first_message;
    mine.count += failures.count;
  }
}

Tally SharedTally::Sum() const {
  Tally sum;
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    sum.Merge(part.tally);
  }
  return sum;
}

std::size_t SharedTally::ThisThread() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace trelu::command
