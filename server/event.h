// What a completion queue hands back: the tag of every gRPC operation points at one of these.
#ifndef TRELU_SERVER_EVENT_H_
#define TRELU_SERVER_EVENT_H_

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace trelu::server {

// Fire is called once for each time that tag() was given to an operation, on the thread of the
// queue that the operation belongs to.
class Event {
 public:
  // What to pass to gRPC as the operation's tag.
  void* tag() {
#if defined(__SANITIZE_THREAD__)
    // gRPC is not instrumented: without this the hand-over to the queue's thread looks like a race.
    __tsan_release(this);
#endif
    return this;
  }

  // For the queue's thread: takes what the queue returned back to the event and fires it.
  static void FireTag(void* tag, bool ok) {
    auto* event = static_cast<Event*>(tag);
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(event);
#endif
    event->Fire(ok);
  }

 protected:
  ~Event() = default;

 private:
  virtual void Fire(bool ok) = 0;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_EVENT_H_
