// One event of the log as a line of text or of JSON.
#ifndef TRELU_SERVER_LOG_LINE_H_
#define TRELU_SERVER_LOG_LINE_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "server/log.h"

namespace trelu::server {

// A pipe takes a write of this size whole or not at all, so no line is longer.
inline constexpr std::size_t kMaxLineBytes = 4096;

// The line with its end-of-line, in printable ASCII, at most kMaxLineBytes; what does not fit is
// cut (text) or left out whole, noting "truncated" (JSON). Times are UTC, to the millisecond.
//   2026-01-31T12:00:00.123Z info  listening address=0.0.0.0:8001 reason="two words"
//   {"time":"2026-01-31T12:00:00.123Z","level":"info","message":"listening","address":"..."}
std::string FormatLogLine(LogFormat format, std::chrono::system_clock::time_point time,
                          LogLevel level, std::string_view message,
                          const std::vector<LogField>& fields);

}  // namespace trelu::server

#endif  // TRELU_SERVER_LOG_LINE_H_
