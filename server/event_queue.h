// A completion queue with the one thread that serves it, and the ways for other threads to reach
// it.
#ifndef TRELU_SERVER_EVENT_QUEUE_H_
#define TRELU_SERVER_EVENT_QUEUE_H_

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "server/busy_poll.h"
#include "server/event.h"
#include "server/operation.h"
#include "server/thread_clock.h"

namespace trelu::server {

// gRPC operations of a queue start, and coroutines that use them run, on its thread alone.
class EventQueue {
 public:
  explicit EventQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue,
                      BusyPoll busy_poll = BusyPoll(std::chrono::microseconds(0)));
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // Starts the thread, which `clock` measures and which first calls `on_thread`. Once.
  void Start(ThreadClock& clock, std::function<void()> on_thread);

  // Ends the thread. Only when no event is pending any more, and before the server is destroyed.
  void Stop();

  grpc::ServerCompletionQueue* get() { return queue_.get(); }

  // Fires `event` once nothing else is ready, or after a few dozen other events: for work that is
  // cheaper together with what may come at any moment. On the queue's thread.
  void WhenIdle(Event& event) { when_idle_.push_back(event.tag()); }

  // Fires `event` soon, on the queue's thread, by `alarm`, which stays until then. Any thread.
  void Post(grpc::Alarm& alarm, Event& event);

 private:
  // Waits for the next event; false when the queue has been shut down and is empty.
  bool Next(void** tag, bool* ok);
  bool Wait(void** tag, bool* ok);

  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  BusyPoll busy_poll_;
  std::deque<void*> when_idle_;
  int events_since_idle_ = 0;
  std::thread thread_;
  bool stopped_ = false;
};

// Tells coroutines on any queue that something happened.
class Broadcast {
 public:
  // A coroutine's ear: `operation` completes, on the queue's thread, once after each Send (several
  // that come close together count as one). To be stopped, and to have completed, before it goes.
  class Listener {
   public:
    Listener(Broadcast& broadcast, EventQueue& queue, AnyOperation& any);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Whether a Send came since the last look. On the queue's thread.
    bool TakeCompletion();
    // Hears nothing any more. Then wait until pending() is false: `while (pending()) co_await any`.
    void Stop();
    // Whether a completion is still on its way.
    bool pending();

   private:
    friend class Broadcast;
    Broadcast& broadcast_;
    EventQueue& queue_;
    PendingOperation heard_;
    grpc::Alarm alarm_;
    bool on_its_way_ = false;  // guarded by the broadcast's mutex
  };

  // Any thread.
  void Send();

 private:
  std::mutex mutex_;
  std::unordered_set<Listener*> listeners_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_EVENT_QUEUE_H_
