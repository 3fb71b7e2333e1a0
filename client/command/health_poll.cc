#include "client/command/health_poll.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace trelu::command {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{100};

}  // namespace

std::string Name(const Health& health) {
  if (!health.ok()) return absl::StatusCodeToString(health.status().code());
  switch (*health) {
    case ServingStatus::kServing:
      return "SERVING";
    case ServingStatus::kNotServing:
      return "NOT_SERVING";
    case ServingStatus::kServiceUnknown:
      return "SERVICE_UNKNOWN";
  }
  return "UNKNOWN";
}

ExitCode ExitCodeOf(const Health& health) {
  if (!health.ok()) return ExitCodeOfCall(health.status());
  switch (*health) {
    case ServingStatus::kServing:
      return kOk;
    case ServingStatus::kNotServing:
      return kNotServing;
    case ServingStatus::kServiceUnknown:
      return kRefused;
  }
  return kInternal;
}

Health WaitForServing(const AskHealth& ask, Clock& clock, std::chrono::milliseconds timeout,
                      std::chrono::nanoseconds wait,
                      const std::function<bool(const Health&)>& on_answer) {
  const TimePoint end = clock.Now() + wait;
  std::mutex mutex;
  std::condition_variable nobody_wakes;
  std::unique_lock lock(mutex);
  while (true) {
    // A single try may take all of its time; of several, none may outlast the waiting.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock.Now());
    const auto limit = wait.count() > 0 && (timeout.count() == 0 || left < timeout)
                           ? std::max(left, std::chrono::milliseconds(1))
                           : timeout;
    Health health = ask(limit);
    const bool go_on = !on_answer || on_answer(health);
    if (!go_on || (health.ok() && *health == ServingStatus::kServing)) return health;
    const TimePoint next = clock.Now() + kBetweenTries;
    if (next >= end) return health;
    while (clock.Now() < next) clock.WaitUntil(lock, nobody_wakes, next);
  }
}

}  // namespace trelu::command
