// Calls, driven by the events of a completion queue, and their tries.
#ifndef TRELU_CLIENT_CALL_H_
#define TRELU_CLIENT_CALL_H_

#include <absl/status/status.h>
#include <grpcpp/alarm.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include "client/event.h"
#include "client/retry.h"

namespace trelu {

// A moment that a call must not outlive, its tries and waits included.
class Deadline {
 public:
  // `timeout` from now; zero: never.
  static Deadline After(std::chrono::milliseconds timeout);

  // This moment, or `most` from now if that is earlier.
  Deadline Within(std::chrono::milliseconds most) const;

  std::chrono::milliseconds remaining() const;
  void ApplyTo(grpc::ClientContext& context) const;

 private:
  std::optional<std::chrono::steady_clock::time_point> at_;
};

// One call, driven by the events of a queue. Between Begin and the end, the queue's thread alone
// runs it; only Cancel comes from elsewhere.
class Call {
 public:
  using Done = std::function<void(absl::Status)>;

  Call() = default;
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // `done` is called once, by the thread that takes the call's last event from `queue`; the call
  // may be destroyed in it. Whoever calls Begin leaves the object alone afterwards, but for Cancel.
  virtual void Begin(grpc::CompletionQueue& queue, Done done) = 0;

  // Ends the call soon, with CANCELLED unless it has ended by then. Any thread, before Begin too.
  virtual void Cancel() = 0;
};

// What unary and streaming calls share: begin, try again, be cancelled, end once. Each try has a
// context of its own.
class TriedCall : public Call {
 public:
  TriedCall(Deadline deadline, RetrySchedule retry);

  void Begin(grpc::CompletionQueue& queue, Done done) override;
  void Cancel() override;

  // What is left of the tries, once the call has ended.
  const RetrySchedule& schedule() const { return retry_; }

  // Waits until the thread that begins a try is through with it: its first event may come before.
  void AwaitStart() { const std::lock_guard lock(mutex_); }

 protected:
  // Starts operations on context() and queue().
  virtual void StartTry() = 0;
  // Destroys what refers to the context of the try that ended.
  virtual void DropTry() = 0;

  grpc::ClientContext& context() { return *context_; }
  grpc::CompletionQueue& queue() { return *queue_; }
  // Of the try that has ended.
  PushBack push_back() const;

  // A try has ended without an answer and has no operation left: begins the next, or ends the call.
  // The caller returns at once.
  void TryFailed(const grpc::Status& status, bool may_retry);
  // Ends the call; no operation is left. The caller returns at once.
  void End(absl::Status status);

 private:
  void NewTry();
  void OnWaited(bool ok);

  const Deadline deadline_;
  RetrySchedule retry_;
  Done done_;
  grpc::CompletionQueue* queue_ = nullptr;
  CallEvent<TriedCall> waited_{*this, &TriedCall::OnWaited};
  std::mutex mutex_;  // held while a try begins; guards what Cancel touches, below
  bool cancelled_ = false;
  std::optional<grpc::ClientContext> context_;
  std::optional<grpc::Alarm> wait_;
};

// Runs `call` on the calling thread, with a queue of its own, and returns its status.
absl::Status RunHere(Call& call);

}  // namespace trelu

#endif  // TRELU_CLIENT_CALL_H_
