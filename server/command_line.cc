#include "server/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <deque>
#include <functional>
#include <iomanip>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "server/log.h"
#include "server/machine.h"
#include "server/options_check.h"
#include "server/units.h"
#include "server/version.h"

namespace trelu::server {
namespace {

constexpr int kUsageError = 2;
constexpr std::size_t kMaxQuotedBytes = 128;
constexpr std::string_view kNone = "none";

struct Flag {
  std::string name;           // with the dashes
  std::string value_name;     // SIZE, DURATION, ...
  std::string text;           // one line of help
  std::string default_value;  // as the user would write it
  std::string wanted;         // the range, for messages
  // Sets the field; false when the value is not `wanted`.
  std::function<bool(const std::string& value)> set;
  bool repeatable = false;
  std::vector<std::string> values = {};  // what CLI11 found

  // --max-message-bytes is TRELU_MAX_MESSAGE_BYTES.
  std::string Variable() const {
    std::string variable = "TRELU_" + name.substr(2);
    for (char& c : variable) {
      if (c == '-') c = '_';
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return variable;
  }
};

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

// Binds flags to the fields of one Options; defaults are read from it.
class Flags {
 public:
  explicit Flags(Options& options);

  std::deque<Flag>& all() { return flags_; }

 private:
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
  void Duration(std::string name, std::chrono::milliseconds& field, std::string text) {
    flags_.push_back(
        {std::move(name), "DURATION", std::move(text), FormatDuration(field),
         "a time from 0 to " + FormatDuration(kMaxDuration) + ", as in 250ms, 30s, 5m or 1h",
         [&field](const std::string& value) {
           const std::optional<std::chrono::milliseconds> duration = ParseDuration(value);
           if (!duration || *duration > kMaxDuration) return false;
           field = *duration;
           return true;
         }});
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

  // A deque, since CLI11 keeps references to the values.
  std::deque<Flag> flags_;
};

Flags::Flags(Options& options) {
  constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::int64_t>::max();
  Addresses("--listen", options.listen,
            "where to serve gRPC: host:port, [ipv6]:port or unix:/path; port 0: any; repeatable");
  Text("--admin-listen", "ADDRESS", options.admin_listen,
       "where to serve HTTP /metrics, /livez and /readyz; none: nowhere");
  Count("--workers", options.workers, kMaxWorkers,
        "threads for large tensors; 0: as many as the CPU affinity and cgroup quota allow");
  Bytes("--inline-bytes", options.inline_bytes, 0, kAnyBytes,
        "tensors up to this size skip the workers; 0: none does");
  Bytes("--max-message-bytes", options.max_message_bytes, 1, kMaxMessageBytes,
        "the largest message; larger ones get RESOURCE_EXHAUSTED");
  Bytes("--max-inflight-bytes", options.max_inflight_bytes, 0, kAnyBytes,
        "payload in flight, beyond it UNAVAILABLE; 0: a quarter of memory, 64MiB to 4GiB");
  Duration("--max-connection-age", options.max_connection_age,
           "ask connections to reconnect after about this long; 0: never");
  Duration("--stream-idle-timeout", options.stream_idle_timeout,
           "end a stream on which nothing moved for this long; 0: never");
  Text("--tls-cert", "PATH", options.tls_cert, "PEM certificate chain of the server; turns TLS on");
  Text("--tls-key", "PATH", options.tls_key, "PEM private key of --tls-cert");
  Text("--tls-client-ca", "PATH", options.tls_client_ca,
       "PEM certificates that client certificates must chain to; requires them");
  Choice<bool>("--reflection", options.reflection, {{"true", true}, {"false", false}},
               "serve grpc.reflection.v1alpha");
  Duration("--drain-delay", options.drain_delay,
           "after SIGTERM, serve this long while health says NOT_SERVING");
  Duration("--drain-grace", options.drain_grace, "then let calls in flight run this long");
  Choice<LogFormat>("--log-format", options.log_format,
                    {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                    "how a line of the log looks");
  Choice<LogCalls>(
      "--log-calls", options.log_calls,
      {{"none", LogCalls::kNone}, {"failed", LogCalls::kFailed}, {"all", LogCalls::kAll}},
      "which finished calls get a line in the log");
}

void PrintHelp(std::deque<Flag>& flags, std::ostream& out) {
  out << "trelu-server: ONNX ThresholdedRelu over gRPC\n"
         "\n"
         "usage: trelu-server [--flag value]...\n"
         "\n"
         "flags:\n";
  std::size_t width = 0;
  for (const Flag& flag : flags) {
    width = std::max(width, flag.name.size() + 1 + flag.value_name.size());
  }
  const auto line = [&](const std::string& left, const std::string& right) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << left << "   " << right
        << '\n';
  };
  for (const Flag& flag : flags) {
    line(flag.name + ' ' + flag.value_name,
         flag.text + " [" + flag.default_value + "]  (" + flag.Variable() + ")");
  }
  line("--version", "print the version and exit");
  line("--help", "print this text and exit");
  out << "\n"
         "SIZE is bytes, or a number with KiB, MiB, GiB (k, m, g). DURATION is seconds, or a "
         "number\n"
         "with ms, s, m, h. Every flag is also the environment variable behind it, where commas "
         "part\n"
         "the addresses of TRELU_LISTEN; a flag wins over its variable.\n"
         "\n"
         "examples:\n"
         "  trelu-server --listen 127.0.0.1:8001 --listen unix:/run/trelu.sock\n"
         "  trelu-server --tls-cert server.pem --tls-key server.key --tls-client-ca clients.pem\n"
         "  TRELU_LOG_FORMAT=json TRELU_MAX_MESSAGE_BYTES=256MiB trelu-server\n";
}

int Refuse(const std::string& message, std::ostream& err) {
  err << "trelu-server: " << message << " (see --help)\n";
  return kUsageError;
}

std::string FlagAndVariable(const Flag& flag) {
  return flag.name + " (or " + flag.Variable() + ")";
}

int RefuseNoValue(const Flag& flag, std::ostream& err) {
  return Refuse(FlagAndVariable(flag) + " needs a value, " + flag.value_name, err);
}

}  // namespace

std::variant<Options, int> ParseCommandLine(int argc, char** argv, std::ostream& out,
                                            std::ostream& err) {
  Options options;
  Flags flags(options);
  CLI::App app;
  app.set_help_flag("--help");
  app.set_version_flag("--version", std::string("trelu-server ") + kVersion);
  std::vector<std::pair<const Flag*, const CLI::Option*>> parsed;
  for (Flag& flag : flags.all()) {
    // Without extra arguments, a flag takes one value and does not swallow what follows.
    CLI::Option* option =
        app.add_option(flag.name, flag.values)->envname(flag.Variable())->allow_extra_args(false);
    option->type_name(flag.value_name);
    if (flag.repeatable) option->delimiter(',');
    parsed.emplace_back(&flag, option);
  }
  // CLI11 gives a flag the next argument whatever it looks like, and then misses that one.
  const auto flag_without_value = [&]() -> const Flag* {
    for (const auto& [flag, option] : parsed) {
      for (const std::string& value : option->results()) {
        if (value.rfind("--", 0) == 0) return flag;
      }
    }
    return nullptr;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    PrintHelp(flags.all(), out);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    if (const Flag* flag = flag_without_value()) return RefuseNoValue(*flag, err);
    return Refuse(Printable(error.what(), 512), err);
  }
  if (const Flag* flag = flag_without_value()) return RefuseNoValue(*flag, err);
  for (Flag& flag : flags.all()) {
    if (!flag.repeatable && flag.values.size() > 1) {
      flag.values.erase(flag.values.begin(), flag.values.end() - 1);
    }
    for (const std::string& value : flag.values) {
      if (!flag.set(value)) {
        return Refuse(FlagAndVariable(flag) + ": \"" + Printable(value, kMaxQuotedBytes) +
                          "\" is not " + flag.wanted,
                      err);
      }
    }
  }
  if (const absl::Status status = CheckOptions(options, AvailableMemoryBytes()); !status.ok()) {
    return Refuse(std::string(status.message()), err);
  }
  return options;
}

}  // namespace trelu::server
