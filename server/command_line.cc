#include "server/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <iomanip>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "server/flags.h"
#include "server/log.h"
#include "server/machine.h"
#include "server/options_check.h"
#include "server/version.h"

namespace trelu::server {
namespace {

constexpr int kUsageError = 2;
constexpr std::size_t kMaxQuotedBytes = 128;

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
         "with us, ms, s, m, h. Every flag is also the environment variable behind it, where "
         "commas part\n"
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

// A variable with no value in it counts as not set. For an address that would open the port to
// every network, which whoever left it empty has hardly meant.
bool IsAddressLeftEmpty(const Flag& flag) {
  if (flag.value_name != "ADDRESS" || !flag.values.empty()) return false;
  // There is one thread yet.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  return std::getenv(flag.Variable().c_str()) != nullptr;
}

}  // namespace

std::variant<Options, int> ParseCommandLine(int argc, char** argv, std::ostream& out,
                                            std::ostream& err) {
  Options options;
  std::deque<Flag> flags = MakeFlags(options);
  CLI::App app;
  app.set_help_flag("--help");
  app.set_version_flag("--version", std::string("trelu-server ") + kVersion);
  std::vector<std::pair<const Flag*, const CLI::Option*>> parsed;
  for (Flag& flag : flags) {
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
    PrintHelp(flags, out);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    if (const Flag* flag = flag_without_value()) return RefuseNoValue(*flag, err);
    return Refuse(Printable(error.what(), 512), err);
  }
  if (const Flag* flag = flag_without_value()) return RefuseNoValue(*flag, err);
  for (Flag& flag : flags) {
    if (IsAddressLeftEmpty(flag)) return RefuseNoValue(flag, err);
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
