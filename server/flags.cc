#include "server/flags.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "server/options_check.h"
#include "server/units.h"

namespace trelu::server {
namespace {

constexpr std::string_view kNone = "none";

template <typename T>
using Names = std::vector<std::pair<std::string_view, T>>;

template <typename T>
std::string NameOf(const Names<T>& names, T value) {
  for (const auto& [name, named] : names) {
    if (named == value) return std::string(name);
  }
  return {};
}

template <typename T>
std::string JoinNames(const Names<T>& names) {
  std::string joined;
  for (const auto& [name, value] : names) {
    if (!joined.empty()) joined += '|';
    joined += name;
  }
  return joined;
}

// Binds flags to fields of an Options.
class Binder {
 public:
  void Addresses(std::string name, std::vector<std::string>& field, std::string text) {
    std::string joined;
    for (const std::string& address : field) joined += (joined.empty() ? "" : ",") + address;
    Flag& flag = flags_.emplace_back(
        Flag{std::move(name), "ADDRESS", std::move(text), joined, "", nullptr, true});
    bool first = true;
    flag.set = [&field, first](const std::string& value) mutable {
      if (std::exchange(first, false)) field.clear();
      field.push_back(value);
      return true;
    };
  }
  void Text(std::string name, std::string value_name, std::string& field, std::string text) {
    flags_.push_back({std::move(name), std::move(value_name), std::move(text),
                      field.empty() ? std::string(kNone) : field, "",
                      [&field](const std::string& value) {
                        field = value == kNone ? "" : value;
                        return true;
                      }});
  }
  void Count(std::string name, int& field, int most, std::string text) {
    flags_.push_back({std::move(name), "COUNT", std::move(text), std::to_string(field),
                      "a whole number from 0 to " + std::to_string(most),
                      [&field, most](const std::string& value) {
                        const char* end = value.data() + value.size();
                        int number = 0;
                        const auto [rest, error] = std::from_chars(value.data(), end, number);
                        if (error != std::errc() || rest != end || number < 0 || number > most)
                          return false;
                        field = number;
                        return true;
                      }});
  }
  void Bytes(std::string name, std::uint64_t& field, std::uint64_t least, std::uint64_t most,
             std::string text) {
    flags_.push_back({std::move(name), "SIZE", std::move(text), FormatBytes(field),
                      "bytes from " + std::to_string(least) + " to " + std::to_string(most) +
                          ", as in 65536, 256k or 64MiB",
                      [&field, least, most](const std::string& value) {
                        const std::optional<std::uint64_t> bytes = ParseBytes(value);
                        if (!bytes || *bytes < least || *bytes > most) return false;
                        field = *bytes;
                        return true;
                      }});
  }
  // `Unit`: the field's, of which the value must be whole ones.
  template <typename Unit>
  void Duration(std::string name, Unit& field, Unit most, std::string text) {
    flags_.push_back({std::move(name), "DURATION", std::move(text), FormatDuration(field),
                      "a time from 0 to " + FormatDuration(most) + ", in steps of " +
                          FormatDuration(Unit(1)) + ", in seconds or with us, ms, s, m, h",
                      [&field, most](const std::string& value) {
                        const std::optional<std::chrono::microseconds> duration =
                            ParseDuration(value);
                        if (!duration || *duration > most) return false;
                        field = std::chrono::duration_cast<Unit>(*duration);
                        return field == *duration;
                      }});
  }
  void Duration(std::string name, std::chrono::milliseconds& field, std::string text) {
    Duration(std::move(name), field, kMaxDuration, std::move(text));
  }
  template <typename T>
  void Choice(std::string name, T& field, const Names<T>& names, std::string text) {
    const std::string joined = JoinNames(names);
    flags_.push_back({std::move(name), joined, std::move(text), NameOf(names, field), joined,
                      [&field, names](const std::string& value) {
                        for (const auto& [choice, meaning] : names) {
                          if (value != choice) continue;
                          field = meaning;
                          return true;
                        }
                        return false;
                      }});
  }

  std::deque<Flag> TakeFlags() { return std::move(flags_); }

 private:
  std::deque<Flag> flags_;
};

}  // namespace

std::string Flag::Variable() const {
  std::string variable = "TRELU_" + name.substr(2);
  for (char& c : variable) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return variable;
}

std::deque<Flag> MakeFlags(Options& options) {
  Binder flags;
  constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::int64_t>::max();
  flags.Addresses(
      "--listen", options.listen,
      "where to serve gRPC: host:port, [ipv6]:port or unix:/path; port 0: any; repeatable");
  flags.Text("--admin-listen", "ADDRESS", options.admin_listen,
             "where to serve HTTP /metrics, /livez and /readyz; none: nowhere");
  flags.Count(
      "--workers", options.workers, kMaxWorkers,
      "threads for shared memory and above --inline-bytes; 0: as many as affinity and quota allow");
  flags.Bytes("--inline-bytes", options.inline_bytes, 0, kAnyBytes,
              "tensors up to this size are computed by the thread that received them; 0: none");
  flags.Duration("--busy-poll", options.busy_poll, kMaxBusyPoll,
                 "while calls follow each other within this time, wait for the next one without "
                 "sleeping; 0: never");
  flags.Bytes("--max-message-bytes", options.max_message_bytes, 1, kMaxMessageBytes,
              "the largest message; larger ones get RESOURCE_EXHAUSTED");
  flags.Bytes("--max-inflight-bytes", options.max_inflight_bytes, 0, kAnyBytes,
              "payload in flight, beyond it UNAVAILABLE; 0: a quarter of memory, 64MiB to 4GiB");
  flags.Duration("--max-connection-age", options.max_connection_age,
                 "ask connections to reconnect after about this long; 0: never");
  flags.Duration("--stream-idle-timeout", options.stream_idle_timeout,
                 "end a stream on which nothing moved for this long; 0: never");
  flags.Text("--model-repository", "PATH", options.model_repository,
             "directory NAME/VERSION/model.onnx of models to serve beside the built-in ones");
  flags.Duration("--model-repository-poll", options.model_repository_poll,
                 "look for changes in the repository this often; 0: never");
  flags.Text("--shared-memory-prefix", "PREFIX", options.shared_memory_prefix,
             "clients may register shared memory whose name begins so; /: any; none: off");
  flags.Bytes("--max-shared-memory-bytes", options.max_shared_memory_bytes, 0, kAnyBytes,
              "shared memory that may be registered, and worked on, at once; 0: half of memory");
  flags.Text("--tls-cert", "PATH", options.tls_cert,
             "PEM certificate chain of the server; turns TLS on");
  flags.Text("--tls-key", "PATH", options.tls_key, "PEM private key of --tls-cert");
  flags.Text("--tls-client-ca", "PATH", options.tls_client_ca,
             "PEM certificates that client certificates must chain to; requires them");
  flags.Choice<bool>("--reflection", options.reflection, {{"true", true}, {"false", false}},
                     "serve grpc.reflection.v1alpha");
  flags.Duration("--drain-delay", options.drain_delay,
                 "after SIGTERM, serve this long while health says NOT_SERVING");
  flags.Duration("--drain-grace", options.drain_grace, "then let calls in flight run this long");
  flags.Choice<LogFormat>("--log-format", options.log_format,
                          {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                          "how a line of the log looks");
  flags.Choice<LogCalls>(
      "--log-calls", options.log_calls,
      {{"none", LogCalls::kNone}, {"failed", LogCalls::kFailed}, {"all", LogCalls::kAll}},
      "which finished calls get a line in the log");
  return flags.TakeFlags();
}

}  // namespace trelu::server
