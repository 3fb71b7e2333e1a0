// The asynchronous calls of a client and the thread that runs them.
#ifndef TRELU_CLIENT_ASYNC_CALLS_H_
#define TRELU_CLIENT_ASYNC_CALLS_H_

#include <absl/status/status.h>
#include <grpcpp/completion_queue.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "client/call.h"

namespace trelu {

// One completion queue with one thread, which begins with the first call and polls only while calls
// are in flight: a thread that always polled would take the socket's events away from blocking
// callers, which then pay a thread switch for each.
//
// (gRPC's own callback threads are no alternative: after a second of silence they sleep, and a call
// then waits tens of milliseconds.)
class AsyncCalls {
 public:
  AsyncCalls() = default;
  // Cancels what is in flight and waits until it has ended.
  ~AsyncCalls();
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  // Runs the call; `done` is called once with its status, on the thread of this object; or at once,
  // with RESOURCE_EXHAUSTED, when that thread cannot be started. Any thread, also from within a
  // `done`.
  void Start(std::unique_ptr<Call> call, Call::Done done);

 private:
  // Under the mutex; does nothing when it runs.
  absl::Status StartThread();
  void Run();
  void Forget(Call* call);

  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Call*, std::unique_ptr<Call>> live_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_ASYNC_CALLS_H_
