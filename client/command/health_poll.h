// Asking a server for its health, once or until it serves.
#ifndef TRELU_CLIENT_COMMAND_HEALTH_POLL_H_
#define TRELU_CLIENT_COMMAND_HEALTH_POLL_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <functional>
#include <string>

#include "client/command/bench/clock.h"
#include "client/command/exit_codes.h"
#include "trelu/client.h"

namespace trelu::command {

// What a server answered, or why there was no answer.
using Health = absl::StatusOr<ServingStatus>;

// Asks once; the answer must come within the time given.
using AskHealth = std::function<Health(std::chrono::milliseconds)>;

// "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN", or the status code of a call that failed.
std::string Name(const Health& health);

// kOk, kNotServing, kRefused for a service that the server does not know, or that of the failed
// call.
ExitCode ExitCodeOf(const Health& health);

// Asks until the answer is SERVING or `wait` is over, and at least once; returns the last answer.
// An answer may take `timeout`, and no longer than what is left of `wait`. Between two tries it
// waits a tenth of a second. `on_answer`, if any, gets every answer, and ends the waiting by
// returning false.
Health WaitForServing(const AskHealth& ask, Clock& clock, std::chrono::milliseconds timeout,
                      std::chrono::nanoseconds wait,
                      const std::function<bool(const Health&)>& on_answer = nullptr);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_HEALTH_POLL_H_
