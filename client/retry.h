// When a failed call is tried again, and after how long.
#ifndef TRELU_CLIENT_RETRY_H_
#define TRELU_CLIENT_RETRY_H_

#include <grpcpp/support/status.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "trelu/client.h"

namespace trelu {

// Time and chance, handed in so that tests neither wait nor guess. Both are called by any thread.
struct RetryPacing {
  // Uniform in [0, 1).
  std::function<double()> random;
  // Told each wait that the rules ask for; returns the wait to make.
  std::function<std::chrono::milliseconds(std::chrono::milliseconds)> wait;

  // Random numbers of the calling thread's own, and waits as asked.
  static RetryPacing Real();
};

// What the server's trailing metadata says of a next try (gRPC proposal A6, "Pushback").
class PushBack {
 public:
  // `text`: the value of grpc-retry-pushback-ms; nothing: the server did not send it.
  static PushBack Parse(std::optional<std::string_view> text);

  // Whether the server said anything: it has refused the call by itself, and is through with it.
  bool given() const { return given_; }
  // A negative value, or one that is no number, forbids trying again.
  bool forbids_retry() const { return forbids_retry_; }
  // The server's own wait, if it gave one.
  std::optional<std::chrono::milliseconds> wait() const { return wait_; }

 private:
  bool given_ = false;
  bool forbids_retry_ = false;
  std::optional<std::chrono::milliseconds> wait_;
};

// One call's tries. Not thread-safe.
class RetrySchedule {
 public:
  // `pacing` must outlive the schedule.
  RetrySchedule(const RetryOptions& options, const RetryPacing& pacing);

  // A try has failed with `code`, and no one here had cancelled it. Returns how long to wait before
  // the next, or nothing when there is to be none: the code is not retryable, the server forbids
  // it, the tries are used up, or the wait would not end within `remaining`, the time to the
  // deadline.
  std::optional<std::chrono::milliseconds> NextWait(grpc::StatusCode code,
                                                    const PushBack& push_back,
                                                    std::chrono::milliseconds remaining);

 private:
  RetryOptions options_;
  const RetryPacing& pacing_;
  int failures_ = 0;
  std::chrono::milliseconds backoff_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_RETRY_H_
