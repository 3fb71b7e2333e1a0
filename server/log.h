// The server's log: one line an event, text or JSON, to standard error.
#ifndef TRELU_SERVER_LOG_H_
#define TRELU_SERVER_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "server/options.h"

namespace trelu::server {

enum class LogLevel { kInfo, kWarning, kError };

struct LogField {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, double> value;
};

// Makes text from outside fit for a log line or a status message: printable ASCII, everything else
// as \xNN, cut to `max_bytes` with "..." at the end.
std::string Printable(std::string_view text, std::size_t max_bytes);

// A name that somebody else chose, as messages show it: 'name', printable, of at most 64 bytes.
std::string Quoted(std::string_view name);

// Process-wide, since gRPC's and protobuf's own lines come here too. Call once, at start;
// before that lines are text.
void InitLog(LogFormat format);

// Writes one line with one write(2), so lines of several threads never mix; values are made
// printable. Any thread.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// The same, but at most one line a second for each `reason`, the next line saying how many were
// left out. `reason` is one of a fixed set of names, never client text.
void LogSometimes(std::string_view reason, LogLevel level, std::string_view message,
                  std::initializer_list<LogField> fields = {});

}  // namespace trelu::server

#endif  // TRELU_SERVER_LOG_H_
