#include "client/command/info_command.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "client/command/exit_codes.h"
#include "client/command/health_poll.h"
#include "client/command/info_report.h"
#include "client/command/standard_output.h"

namespace trelu::command {
namespace {

constexpr std::size_t kRoundTrips = 11;

absl::StatusOr<InfoReport> Ask(Client& client, const ConnectionOptions& connection) {
  const std::chrono::milliseconds timeout = connection.Timeout(std::chrono::seconds(5));
  InfoReport report{.target = connection.target, .client_version = TRELU_VERSION};
  absl::StatusOr<ServerInfo> server = client.GetInfo(timeout);
  if (!server.ok()) return server.status();
  report.server = *std::move(server);

  // The first call also made the connection, so it is not among the timed ones.
  Health health = absl::UnknownError("");
  std::array<std::chrono::nanoseconds, kRoundTrips> round_trips{};
  for (std::chrono::nanoseconds& round_trip : round_trips) {
    const auto begin = std::chrono::steady_clock::now();
    health = client.CheckHealth("", timeout);
    round_trip = std::chrono::steady_clock::now() - begin;
  }
  const auto median = round_trips.begin() + kRoundTrips / 2;
  std::nth_element(round_trips.begin(), median, round_trips.end());
  report.round_trip = *median;
  report.health = Name(health);
  return report;
}

ExitCode RunInfo(bool json, const ConnectionOptions& connection) {
  ClientOptions options = connection.ToClientOptions();
  options.connections =
      1;  // the one that the first call makes, so that no timed call makes another
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  if (!client.ok()) {
    return Fail(kUsage, connection.target, std::string(client.status().message()));
  }
  const absl::StatusOr<InfoReport> report = Ask(**client, connection);
  if (!report.ok()) return FailCall(connection.target, report.status());
  return Print(json ? ToJson(*report) : FormatInfo(*report));
}

}  // namespace

void AddInfoCommand(CLI::App& app, const ConnectionOptions& connection, int& exit_code) {
  CLI::App* info = app.add_subcommand(
      "info", "Show the server's version, limits and health, and the time of a round trip to it");
  auto json = std::make_shared<bool>(false);
  info->add_flag("--json", *json, "As JSON");
  info->footer(
      "\nExamples:\n"
      "  trelu info\n"
      "  trelu -t unix:/run/trelu.sock info\n"
      "  trelu info --json | python3 -m json.tool\n\n"
      "The round trip is the median of 11 health checks on an open connection.\n");
  info->callback([json, &connection, &exit_code] { exit_code = RunInfo(*json, connection); });
}

}  // namespace trelu::command
