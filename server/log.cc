#include "server/log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "server/log_limiter.h"
#include "server/log_line.h"

namespace trelu::server {
namespace {

std::atomic<LogFormat> g_format{LogFormat::kText};

// Writes lines to standard error; never waits for whoever reads them.
class LineWriter {
 public:
  // `fields` may get one more: the number of lines that were lost since the last that got through.
  void Write(LogLevel level, std::string_view message, std::vector<LogField> fields) {
    const auto now = std::chrono::system_clock::now();
    // One line at a time, so that the room that poll saw is still there for the write.
    const std::lock_guard lock(mutex_);
    if (lost_ != 0) fields.push_back({"lost_lines", lost_});
    const std::string line = FormatLogLine(g_format.load(), now, level, message, fields);
    lost_ = HasRoom() && WriteAll(line) ? 0 : lost_ + 1;
  }

 private:
  // A pipe that polls as writable has a free page, which is kMaxLineBytes.
  static bool HasRoom() {
    pollfd target = {STDERR_FILENO, POLLOUT, 0};
    return poll(&target, 1, 0) == 1 && (target.revents & POLLOUT) != 0 &&
           (target.revents & (POLLERR | POLLNVAL)) == 0;
  }
  static bool WriteAll(const std::string& line) {
    ssize_t written = -1;
    do {
      written = write(STDERR_FILENO, line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    return written == static_cast<ssize_t>(line.size());
  }

  std::mutex mutex_;
  std::int64_t lost_ = 0;
};

// Never destroyed: gRPC's threads may log while the process exits.
LineWriter& Writer() {
  static LineWriter& writer = *new LineWriter;
  return writer;
}

void WriteSometimes(std::string_view reason, LogLevel level, std::string_view message,
                    std::vector<LogField> fields) {
  static LogLimiter& limiter = *new LogLimiter;
  const std::optional<std::uint64_t> held_back =
      limiter.Admit(reason, std::chrono::steady_clock::now());
  if (!held_back) return;
  if (*held_back != 0) fields.push_back({"suppressed", static_cast<std::int64_t>(*held_back)});
  Writer().Write(level, message, std::move(fields));
}

void LogFromGrpc(gpr_log_func_args* line) {
  std::string_view file = line->file;
  if (const std::size_t slash = file.rfind('/'); slash != std::string_view::npos) {
    file.remove_prefix(slash + 1);
  }
  const std::string source = std::string(file) + ':' + std::to_string(line->line);
  const LogLevel level =
      line->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kError : LogLevel::kInfo;
  // A client decides how often gRPC has something to say, so each place in its code counts as a
  // reason of its own.
  WriteSometimes(source, level, line->message, {{"grpc", source}});
}

// A client decides this too: a string that is no UTF-8 is worth an error to protobuf.
void LogFromProtobuf(google::protobuf::LogLevel level, const char* /*file*/, int /*line*/,
                     const std::string& message) {
  WriteSometimes("protobuf",
                 level < google::protobuf::LOGLEVEL_ERROR ? LogLevel::kInfo : LogLevel::kError,
                 message, {});
}

}  // namespace

std::string Printable(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kCut = "...";
  std::string printable;
  // Where to cut, on the border of a character or an escape, should the text turn out too long.
  std::size_t cut = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      printable += c;
    } else {
      printable += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
    if (printable.size() > max_bytes) {
      printable.resize(cut);
      return printable.append(kCut.substr(0, max_bytes));
    }
    if (printable.size() + kCut.size() <= max_bytes) cut = printable.size();
  }
  return printable;
}

std::string Quoted(std::string_view name) {
  constexpr std::size_t kShownBytes = 64;
  return "'" + Printable(name, kShownBytes) + "'";
}

void InitLog(LogFormat format) {
  g_format = format;
  gpr_set_log_function(LogFromGrpc);
  google::protobuf::SetLogHandler(LogFromProtobuf);
}

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  Writer().Write(level, message, fields);
}

void LogSometimes(std::string_view reason, LogLevel level, std::string_view message,
                  std::initializer_list<LogField> fields) {
  WriteSometimes(reason, level, message, fields);
}

}  // namespace trelu::server
