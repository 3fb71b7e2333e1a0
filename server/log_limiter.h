// Keeps repeated log lines to one a second for each reason.
#ifndef TRELU_SERVER_LOG_LIMITER_H_
#define TRELU_SERVER_LOG_LIMITER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace trelu::server {

// Any thread. Remembers every reason for ever, so reasons come from a fixed set.
class LogLimiter {
 public:
  static constexpr std::chrono::seconds kInterval{1};

  // Nothing when a line for `reason` was let through less than kInterval before `now`; otherwise
  // the number of lines held back since that one.
  std::optional<std::uint64_t> Admit(std::string_view reason,
                                     std::chrono::steady_clock::time_point now);

 private:
  struct Entry {
    std::chrono::steady_clock::time_point last;
    std::uint64_t held_back = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_LOG_LIMITER_H_
