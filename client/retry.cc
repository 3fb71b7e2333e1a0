#include "client/retry.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <random>

namespace trelu {
namespace {

bool IsRetryable(grpc::StatusCode code) {
  // CANCELLED as well: it is what a server that shuts down under a call makes of it.
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED;
}

}  // namespace

RetryPacing RetryPacing::Real() {
  return {.random =
              [] {
                thread_local std::minstd_rand generator(std::random_device{}());
                return std::uniform_real_distribution<double>()(generator);
              },
          .wait = [](std::chrono::milliseconds wait) { return wait; }};
}

PushBack PushBack::Parse(std::optional<std::string_view> text) {
  PushBack push_back;
  if (!text.has_value()) return push_back;
  push_back.given_ = true;
  std::int32_t ms = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, ms);
  if (error != std::errc() || rest != end || ms < 0) {
    push_back.forbids_retry_ = true;
  } else {
    push_back.wait_ = std::chrono::milliseconds(ms);
  }
  return push_back;
}

RetrySchedule::RetrySchedule(const RetryOptions& options, const RetryPacing& pacing)
    : options_(options), pacing_(pacing), backoff_(options.initial_backoff) {}

std::optional<std::chrono::milliseconds> RetrySchedule::NextWait(
    grpc::StatusCode code, const PushBack& push_back, std::chrono::milliseconds remaining) {
  ++failures_;
  if (!IsRetryable(code) || push_back.forbids_retry() || failures_ >= options_.max_attempts) {
    return std::nullopt;
  }
  std::chrono::milliseconds wait{};
  if (push_back.wait().has_value()) {
    wait = *push_back.wait();
    backoff_ = options_.initial_backoff;
  } else {
    wait = std::chrono::duration_cast<std::chrono::milliseconds>(backoff_ * pacing_.random());
    backoff_ = std::min(backoff_ * 2, options_.max_backoff);
  }
  if (wait >= remaining) return std::nullopt;
  return pacing_.wait(wait);
}

}  // namespace trelu
