// Wakes a stream on which nothing has moved for too long.
#ifndef TRELU_SERVER_IDLE_TIMER_H_
#define TRELU_SERVER_IDLE_TIMER_H_

#include <grpcpp/alarm.h>

#include <chrono>

#include "server/event_queue.h"
#include "server/operation.h"

namespace trelu::server {

// On its queue's thread. To be stopped, and not pending any more, before it goes.
class IdleTimer {
 public:
  // 0: never.
  IdleTimer(std::chrono::milliseconds timeout, EventQueue& queue, AnyOperation& any);

  void Moved() { last_move_ = Clock::now(); }

  // Whether nothing has moved for the whole timeout. Arms itself again if something has.
  bool Expired();

  void Stop();
  bool pending() const { return expiry_.pending(); }

 private:
  using Clock = std::chrono::steady_clock;
  void Arm(Clock::duration wait);

  const std::chrono::milliseconds timeout_;
  EventQueue& queue_;
  PendingOperation expiry_;
  grpc::Alarm alarm_;
  Clock::time_point last_move_ = Clock::now();
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_IDLE_TIMER_H_
