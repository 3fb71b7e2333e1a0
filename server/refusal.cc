#include "server/refusal.h"

#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>

#include <string>

namespace trelu::server {
namespace {

// A status payload: never sent, it only travels with the status to the call's end.
constexpr const char* kReason = "trelu.dev/rejection";

absl::Status Refuse(Rejection reason, absl::StatusCode code, const std::string& message) {
  absl::Status status(code, message);
  status.SetPayload(kReason, absl::Cord(absl::StrCat(static_cast<int>(reason))));
  return status;
}

}  // namespace

absl::Status TooLarge(std::uint64_t bytes, std::uint64_t max_bytes) {
  return Refuse(Rejection::kTooLarge, absl::StatusCode::kResourceExhausted,
                absl::StrCat("message of ", bytes, " bytes: at most ", max_bytes,
                             " (--max-message-bytes); larger tensors go by ApplyStream in "
                             "chunks, or in shared memory (--shared-memory-prefix)"));
}

absl::Status AnswerTooLarge(std::uint64_t bytes, std::uint64_t max_bytes) {
  return Refuse(Rejection::kTooLarge, absl::StatusCode::kResourceExhausted,
                absl::StrCat("answer of ", bytes, " bytes: at most ", max_bytes,
                             " (--max-message-bytes); name an output in shared memory"));
}

absl::Status OverBudget(std::uint64_t bytes, std::uint64_t max_bytes) {
  return Refuse(Rejection::kOverBudget, absl::StatusCode::kUnavailable,
                absl::StrCat("server busy: no room for ", bytes, " bytes more in flight, at most ",
                             max_bytes, " (--max-inflight-bytes)"));
}

absl::Status OverSharedBudget(std::uint64_t bytes, std::uint64_t max_bytes) {
  return Refuse(Rejection::kOverBudget, absl::StatusCode::kUnavailable,
                absl::StrCat("server busy: no room for work on ", bytes,
                             " bytes more of shared memory, at most ", max_bytes,
                             " at once (--max-shared-memory-bytes)"));
}

absl::Status Draining() {
  return Refuse(Rejection::kDraining, absl::StatusCode::kUnavailable, "server draining");
}

absl::Status Idle(std::chrono::milliseconds timeout) {
  return Refuse(Rejection::kIdle, absl::StatusCode::kDeadlineExceeded,
                absl::StrCat("stream idle for ", timeout.count(), " ms (--stream-idle-timeout)"));
}

absl::Status CallerGone(std::chrono::system_clock::time_point deadline) {
  if (deadline <= std::chrono::system_clock::now()) {
    return absl::DeadlineExceededError("deadline passed");
  }
  return absl::CancelledError("cancelled by the caller");
}

Rejection ReasonOf(const absl::Status& status) {
  if (const auto reason = status.GetPayload(kReason)) {
    return static_cast<Rejection>(std::stoi(std::string(*reason)));
  }
  switch (status.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return Rejection::kDeadline;
    case absl::StatusCode::kCancelled:
      return Rejection::kCancelled;
    default:
      return Rejection::kInvalid;
  }
}

bool CutByServer(const absl::Status& status) {
  const Rejection reason = ReasonOf(status);
  return !status.ok() && (reason == Rejection::kIdle || reason == Rejection::kDraining);
}

std::optional<std::chrono::milliseconds> PushbackOf(const absl::Status& status) {
  // Of our own only: a model that is not loaded is UNAVAILABLE too, and may stay so.
  if (status.code() != absl::StatusCode::kUnavailable || !status.GetPayload(kReason)) {
    return std::nullopt;
  }
  // While draining, long enough that a client's few attempts are not all spent before its balancer
  // has another address.
  return std::chrono::milliseconds(ReasonOf(status) == Rejection::kDraining ? 100 : 50);
}

}  // namespace trelu::server
