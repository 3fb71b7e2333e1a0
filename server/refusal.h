// The server's own reasons to turn a request away, as statuses that remember which one it was.
#ifndef TRELU_SERVER_REFUSAL_H_
#define TRELU_SERVER_REFUSAL_H_

#include <absl/status/status.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "server/metrics.h"

namespace trelu::server {

// RESOURCE_EXHAUSTED: a message over --max-message-bytes.
absl::Status TooLarge(std::uint64_t bytes, std::uint64_t max_bytes);
// RESOURCE_EXHAUSTED: an answer over it.
absl::Status AnswerTooLarge(std::uint64_t bytes, std::uint64_t max_bytes);
// UNAVAILABLE: no room for `bytes` more in flight.
absl::Status OverBudget(std::uint64_t bytes, std::uint64_t max_bytes);
// UNAVAILABLE: no more shared memory can be worked on at once.
absl::Status OverSharedBudget(std::uint64_t bytes, std::uint64_t max_bytes);
// UNAVAILABLE: the server is about to stop.
absl::Status Draining();
// DEADLINE_EXCEEDED: nothing moved on the stream for --stream-idle-timeout.
absl::Status Idle(std::chrono::milliseconds timeout);
// DEADLINE_EXCEEDED when `deadline` is past, else CANCELLED.
absl::Status CallerGone(std::chrono::system_clock::time_point deadline);

// Which rejection a status that is not OK counts as.
Rejection ReasonOf(const absl::Status& status);

// Whether the server itself ended a call that was under way, for Idle or Draining.
bool CutByServer(const absl::Status& status);

// When the caller may try again (the trailing metadata grpc-retry-pushback-ms); nothing when
// another try cannot help.
std::optional<std::chrono::milliseconds> PushbackOf(const absl::Status& status);

}  // namespace trelu::server

#endif  // TRELU_SERVER_REFUSAL_H_
