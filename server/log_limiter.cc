#include "server/log_limiter.h"

#include <utility>

namespace trelu::server {

std::optional<std::uint64_t> LogLimiter::Admit(std::string_view reason,
                                               std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(reason);
  if (entry == entries_.end()) {
    entries_.emplace(reason, Entry{now});
    return 0;
  }
  if (now - entry->second.last < kInterval) {
    ++entry->second.held_back;
    return std::nullopt;
  }
  entry->second.last = now;
  return std::exchange(entry->second.held_back, 0);
}

}  // namespace trelu::server
