// How a thread waits for its next event: asleep, or looking again and again.
#ifndef TRELU_SERVER_BUSY_POLL_H_
#define TRELU_SERVER_BUSY_POLL_H_

#include <chrono>

namespace trelu::server {

// Looking saves the time that the system takes to wake a thread, and costs a processor. It is worth
// it while events follow each other closely, so the next wait is taken to be like the last one: a
// lone caller's is short each time, and after a long one the thread sleeps at once. One thread.
class BusyPoll {
 public:
  // Waits up to `at_most` count as short; zero: it always sleeps.
  explicit BusyPoll(std::chrono::microseconds at_most) : at_most_(at_most) {}

  bool off() const { return at_most_.count() == 0; }

  // How long to look, in the wait that begins now, before sleeping.
  std::chrono::microseconds patience() const {
    return last_was_short_ ? at_most_ : std::chrono::microseconds(0);
  }

  // The wait has ended, after this time in all.
  void Waited(std::chrono::nanoseconds time) { last_was_short_ = time <= at_most_; }

 private:
  const std::chrono::microseconds at_most_;
  bool last_was_short_ = false;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_BUSY_POLL_H_
