#include "server/event_queue.h"

#include <grpc/support/time.h>

#include <utility>

namespace trelu::server {

EventQueue::EventQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue)
    : queue_(std::move(queue)) {}

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

void EventQueue::Start(std::function<void()> on_thread) {
  thread_ = std::thread([this, on_thread = std::move(on_thread)]() mutable {
    std::exchange(on_thread, nullptr)();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) Event::FireTag(tag, ok);
  });
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
