#include "server/event_queue.h"

#include <grpc/support/time.h>

#include <chrono>
#include <utility>

namespace trelu::server {

EventQueue::EventQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, BusyPoll busy_poll)
    : queue_(std::move(queue)), busy_poll_(std::move(busy_poll)) {}

EventQueue::~EventQueue() { Stop(); }

void EventQueue::Stop() {
  if (std::exchange(stopped_, true)) return;
  queue_->Shutdown();
  if (thread_.joinable()) {
    thread_.join();
    return;
  }
  // Never started: the queue must still be drained before it is destroyed.
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
  }
}

void EventQueue::Start(ThreadClock& clock, std::function<void()> on_thread) {
  thread_ = std::thread([this, &clock, on_thread = std::move(on_thread)]() mutable {
    const ThreadClock::Scope measured(clock);
    std::exchange(on_thread, nullptr)();
    void* tag = nullptr;
    bool ok = false;
    while (Next(&tag, &ok)) Event::FireTag(tag, ok);
  });
}

bool EventQueue::Next(void** tag, bool* ok) {
  if (when_idle_.empty()) return Wait(tag, ok);
  constexpr int kEventsInBetween = 32;
  if (++events_since_idle_ <= kEventsInBetween) {
    const auto got = queue_->AsyncNext(tag, ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
    if (got != grpc::CompletionQueue::TIMEOUT) return got == grpc::CompletionQueue::GOT_EVENT;
  }
  events_since_idle_ = 0;
  *tag = when_idle_.front();
  *ok = true;
  when_idle_.pop_front();
  return true;
}

bool EventQueue::Wait(void** tag, bool* ok) {
  if (busy_poll_.off()) return queue_->Next(tag, ok);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const Clock::time_point asleep_from = begun + busy_poll_.patience();
  auto got = grpc::CompletionQueue::TIMEOUT;
  do {
    got = queue_->AsyncNext(tag, ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
  } while (got == grpc::CompletionQueue::TIMEOUT && Clock::now() < asleep_from);
  const bool more = got == grpc::CompletionQueue::TIMEOUT ? queue_->Next(tag, ok)
                                                          : got == grpc::CompletionQueue::GOT_EVENT;
  busy_poll_.Waited(Clock::now() - begun);
  return more;
}

void EventQueue::Post(grpc::Alarm& alarm, Event& event) {
  // Before the tag is handed over: once it is, the event may fire, and all of this be gone, at any
  // time.
  grpc::CompletionQueue* const queue = queue_.get();
  alarm.Set(queue, gpr_inf_past(GPR_CLOCK_MONOTONIC), event.tag());
}

Broadcast::Listener::Listener(Broadcast& broadcast, EventQueue& queue, AnyOperation& any)
    : broadcast_(broadcast), queue_(queue), heard_(any) {
  const std::lock_guard lock(broadcast_.mutex_);
  broadcast_.listeners_.insert(this);
}

bool Broadcast::Listener::TakeCompletion() {
  if (!heard_.TakeCompletion()) return false;
  const std::lock_guard lock(broadcast_.mutex_);
  on_its_way_ = false;
  return true;
}

void Broadcast::Listener::Stop() {
  const std::lock_guard lock(broadcast_.mutex_);
  broadcast_.listeners_.erase(this);
}

bool Broadcast::Listener::pending() {
  TakeCompletion();
  const std::lock_guard lock(broadcast_.mutex_);
  return on_its_way_;
}

void Broadcast::Send() {
  const std::lock_guard lock(mutex_);
  for (Listener* listener : listeners_) {
    if (std::exchange(listener->on_its_way_, true)) continue;
    listener->queue_.Post(listener->alarm_, listener->heard_);
  }
}

}  // namespace trelu::server
