// What a gRPC operation reports to: an object whose address is the operation's tag.
#ifndef TRELU_CLIENT_EVENT_H_
#define TRELU_CLIENT_EVENT_H_

#include <atomic>

namespace trelu {

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // The tag of an operation that is started right after. What this thread wrote before, the object
  // itself included, is visible to whichever thread dispatches the event.
  void* Tag() {
    published_.store(true, std::memory_order_release);
    return this;
  }

  // Hands on what CompletionQueue::Next returned. The event may be gone afterwards.
  static void Dispatch(void* tag, bool ok) {
    auto* event = static_cast<Event*>(tag);
    static_cast<void>(event->published_.load(std::memory_order_acquire));
    event->Fire(ok);
  }

 protected:
  ~Event() = default;

 private:
  virtual void Fire(bool ok) = 0;

  std::atomic<bool> published_{false};
};

// An event of a call, which has one operation outstanding on it at a time: calls a member function
// of the call, once whoever started the operation has returned from that.
template <class Owner>
class CallEvent final : public Event {
 public:
  CallEvent(Owner& call, void (Owner::*function)(bool)) : call_(call), function_(function) {}

 private:
  void Fire(bool ok) override {
    call_.AwaitStart();
    (call_.*function_)(ok);
  }

  Owner& call_;
  void (Owner::*function_)(bool);
};

}  // namespace trelu

#endif  // TRELU_CLIENT_EVENT_H_
