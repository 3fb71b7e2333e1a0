#include "client/options_check.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

namespace trelu {
namespace {

// protobuf ends a message at 2 GiB; this leaves room for its header.
constexpr std::uint64_t kMaxUnaryBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{64} << 20;
constexpr int kMaxConnections = 1024;

absl::Status Wrong(absl::string_view field, std::int64_t value, absl::string_view range) {
  return absl::InvalidArgumentError(absl::StrCat(field, " = ", value, ": must be ", range));
}

// gRPC takes a port modulo 65536, which is another server's.
bool HasImpossiblePort(absl::string_view target) {
  if (absl::StartsWith(target, "unix")) return false;
  const std::size_t colon = target.rfind(':');
  const absl::string_view port =
      colon == absl::string_view::npos ? absl::string_view() : target.substr(colon + 1);
  const bool digits = !port.empty() && std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  int number = 0;
  return digits && (!absl::SimpleAtoi(port, &number) || number > 65535);
}

}  // namespace

absl::Status CheckOptions(const ClientOptions& options) {
  if (options.target.empty()) return absl::InvalidArgumentError("target is empty");
  if (HasImpossiblePort(options.target)) {
    return absl::InvalidArgumentError(
        absl::StrCat("target = ", options.target, ": a port is at most 65535"));
  }
  if (options.connections < 1 || options.connections > kMaxConnections) {
    return Wrong("connections", options.connections, absl::StrCat("1 to ", kMaxConnections));
  }
  const RetryOptions& retry = options.retry;
  if (retry.max_attempts < 1) return Wrong("retry.max_attempts", retry.max_attempts, "at least 1");
  if (retry.initial_backoff.count() < 0) {
    return Wrong("retry.initial_backoff", retry.initial_backoff.count(), "at least 0 ms");
  }
  if (retry.max_backoff < retry.initial_backoff) {
    return Wrong("retry.max_backoff", retry.max_backoff.count(), "at least retry.initial_backoff");
  }
  if (retry.max_backoff > std::chrono::hours(1)) {
    return Wrong("retry.max_backoff", retry.max_backoff.count(), "at most an hour");
  }
  if (options.stream_above_bytes > kMaxUnaryBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "stream_above_bytes = ", options.stream_above_bytes, ": must be at most ", kMaxUnaryBytes));
  }
  if (options.chunk_bytes < 1 || options.chunk_bytes > kMaxChunkBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk_bytes = ", options.chunk_bytes, ": must be 1 to ", kMaxChunkBytes));
  }
  return absl::OkStatus();
}

}  // namespace trelu
