#include "client/command/health_command.h"

#include <memory>
#include <string>

#include "client/command/bench/quantities.h"
#include "client/command/exit_codes.h"
#include "client/command/health_poll.h"
#include "client/command/standard_output.h"

namespace trelu::command {
namespace {

struct HealthFlags {
  std::string service;
  std::string wait = "0s";
  bool quiet = false;
};

ExitCode RunHealth(const HealthFlags& flags, const ConnectionOptions& connection) {
  const absl::StatusOr<std::chrono::nanoseconds> wait = ParseDuration(flags.wait);
  if (!wait.ok()) return Fail(kUsage, "health", std::string(wait.status().message()));
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(connection.ToClientOptions());
  if (!client.ok()) {
    return Fail(kUsage, connection.target, std::string(client.status().message()));
  }

  SteadyClock clock;
  const Health health = WaitForServing(
      [&](std::chrono::milliseconds timeout) {
        return (*client)->CheckHealth(flags.service, timeout);
      },
      clock, connection.Timeout(std::chrono::seconds(5)), *wait);
  if (flags.quiet) return ExitCodeOf(health);
  if (!health.ok()) return FailCall(connection.target, health.status());
  const ExitCode printed = Print(Name(health) + '\n');
  return printed == kOk ? ExitCodeOf(health) : printed;
}

}  // namespace

void AddHealthCommand(CLI::App& app, const ConnectionOptions& connection, int& exit_code) {
  CLI::App* health = app.add_subcommand(
      "health", "Ask whether the server takes requests (grpc.health.v1), for people and scripts");
  auto flags = std::make_shared<HealthFlags>();
  health->add_option(
      "service", flags->service,
      "A service, such as trelu.v1.ThresholdedRelu; left out: the server as a whole");
  health->add_option("--wait", flags->wait, "Keep asking for so long until it is serving")
      ->type_name("DURATION")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto duration = ParseDuration(text);
            return duration.ok() ? std::string() : std::string(duration.status().message());
          },
          ""));
  health->add_flag("-q,--quiet", flags->quiet, "Print nothing: the exit code is the answer");
  health->footer(
      "\nExamples:\n"
      "  trelu health                              SERVING\n"
      "  trelu health trelu.v1.ThresholdedRelu\n"
      "  trelu health --wait 30s --quiet && trelu apply x.npy\n\n"
      "Exit codes: 0 serving, 9 not serving, 4 no such service, 5 no server there, 6 no answer in "
      "time\n"
      "(--timeout, 5 seconds by default).\n");
  health->callback([flags, &connection, &exit_code] { exit_code = RunHealth(*flags, connection); });
}

}  // namespace trelu::command
