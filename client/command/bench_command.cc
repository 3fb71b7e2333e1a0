#include "client/command/bench_command.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <system_error>

#include "client/command/bench/bench_flags.h"
#include "client/command/bench/bench_report.h"
#include "client/command/bench/client_target.h"
#include "client/command/bench/quantities.h"
#include "client/command/exit_codes.h"
#include "client/command/standard_output.h"
#include "client/command/terminal.h"

namespace trelu::command {
namespace {

std::atomic<bool> interrupted = false;

// Until its destruction the first Ctrl-C, or SIGTERM, sets `interrupted`; a second one kills.
class InterruptGuard {
 public:
  InterruptGuard() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

// A line on the terminal that is rewritten; nothing anywhere else.
LoadObserver ProgressShower(const std::string& label, std::chrono::nanoseconds total) {
  if (!IsTerminal(stderr)) return [](const LoadProgress&) { return !interrupted; };
  return [label, total](const LoadProgress& progress) {
    std::fprintf(stderr, "\r\033[K%s: %.0f of %.0f s, %llu answered, %llu failed", label.c_str(),
                 std::chrono::duration<double>(progress.elapsed).count(),
                 std::chrono::duration<double>(total).count(),
                 static_cast<unsigned long long>(progress.answered),
                 static_cast<unsigned long long>(progress.failed));
    return !interrupted;
  };
}

void ClearProgress() {
  if (IsTerminal(stderr)) std::fputs("\r\033[K", stderr);
}

absl::StatusOr<std::unique_ptr<ClientTarget>> MakeTarget(const ConnectionOptions& connection,
                                                         const BenchSettings& settings,
                                                         const TensorSpec& spec) {
  ClientOptions options = connection.ToClientOptions();
  options.retry.max_attempts = settings.retries + 1;
  if (settings.mode == SendMode::kUnary) options.stream_above_bytes = kLargestUnaryBytes;
  if (settings.mode != SendMode::kAuto) options.shared_memory = SharedMemory::kNever;
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  if (!client.ok()) return client.status();
  const ApplyOptions apply{.alpha = settings.alpha, .timeout = settings.timeout};
  const std::size_t slots = settings.plan.in_flight;
  if (settings.mode == SendMode::kStream) {
    return std::make_unique<StreamTarget>(*std::move(client), spec, apply, slots);
  }
  return std::make_unique<CallTarget>(*std::move(client), spec, apply, slots);
}

// One answer, or two for each slot, compared. The first failure ends it.
absl::Status Verify(const BenchPlan& plan, ClientTarget& target, Clock& clock, BenchRow& row) {
  LoadPlan pass;
  pass.in_flight = plan.verify_more ? plan.settings.plan.in_flight : 1;
  pass.max_requests = plan.verify_more ? 2 * pass.in_flight : 1;
  pass.duration = std::chrono::hours(24);
  target.set_verify(true);
  const LoadResult result =
      RunLoad(pass, target, clock, [](const LoadProgress&) { return !interrupted; });
  target.set_verify(false);
  row.verified = result.tally.answered_in_window;
  for (const auto& [code, failures] : result.tally.failures) {
    return {code, failures.first_message};
  }
  return absl::OkStatus();
}

absl::StatusOr<BenchRow> RunSize(const BenchPlan& plan, const ConnectionOptions& connection,
                                 const TensorSpec& spec) {
  absl::StatusOr<std::unique_ptr<ClientTarget>> target =
      MakeTarget(connection, plan.settings, spec);
  if (!target.ok()) return target.status();
  SteadyClock clock;
  BenchRow row{.spec = spec};
  if (absl::Status status = Verify(plan, **target, clock, row); !status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("before the clock ran, with ", FormatBytes(spec.bytes()), ": ",
                                     status.message()));
  }
  if (interrupted) return absl::CancelledError("interrupted");
  const LoadPlan& load = plan.settings.plan;
  row.load = RunLoad(load, **target, clock,
                     ProgressShower(FormatBytes(spec.bytes()), load.warmup + load.duration));
  ClearProgress();
  return row;
}

ExitCode WriteJson(const std::string& path, const std::string& json) {
  if (path == "-") return Print(json);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return Fail(kBadOutput, path, std::generic_category().message(errno));
  bool written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
  written = std::fclose(file) == 0 && written;
  return written ? kOk : Fail(kBadOutput, path, std::generic_category().message(errno));
}

// The exit code for figures as they are, with a line on stderr when it is not 0.
ExitCode Judge(const std::string& target, const std::vector<BenchRow>& rows) {
  for (const BenchRow& row : rows) {
    for (const auto& [code, failures] : row.load.tally.failures) {
      const absl::Status status(
          code, absl::StrCat(failures.count, " requests of ", FormatBytes(row.spec.bytes()),
                             " failed, the first with: ", failures.first_message));
      return FailCall(target, status);
    }
    if (row.load.tally.latency.count() == 0) {
      return Fail(kDeadline, target,
                  absl::StrCat("no measured request of ", FormatBytes(row.spec.bytes()),
                               " was answered: run longer"));
    }
  }
  if (rows.empty()) return Fail(kDeadline, target, "interrupted before anything was measured");
  return kOk;
}

ExitCode RunBench(const BenchFlags& flags, const ConnectionOptions& connection,
                  bool retries_given) {
  const std::uint64_t memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                     static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  absl::StatusOr<BenchPlan> plan = PlanBench(flags, connection, retries_given, memory_bytes);
  if (!plan.ok()) return Fail(kUsage, "bench", std::string(plan.status().message()));
  BenchSettings& settings = plan->settings;

  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(connection.ToClientOptions());
  if (!client.ok()) {
    return Fail(kUsage, connection.target, std::string(client.status().message()));
  }
  const absl::StatusOr<ServerInfo> info =
      (*client)->GetInfo(connection.Timeout(std::chrono::seconds(5)));
  if (info.ok()) {
    settings.server = *info;
  } else if (!absl::IsUnimplemented(info.status())) {
    return FailCall(connection.target, info.status());
  }
  client->reset();

  const InterruptGuard guard;
  const bool table = flags.json != "-";
  if (table && Print(FormatHead(settings)) != kOk) return kBadOutput;
  std::vector<BenchRow> rows;
  ExitCode code = kOk;
  for (const TensorSpec& spec : plan->specs) {
    absl::StatusOr<BenchRow> row = RunSize(*plan, connection, spec);
    if (interrupted && !row.ok()) break;
    if (!row.ok()) {
      code = FailCall(connection.target, row.status());
      break;
    }
    if (table && Print(FormatRow(settings, *row)) != kOk) return kBadOutput;
    rows.push_back(*std::move(row));
    if (interrupted) break;
  }
  if (!flags.json.empty()) {
    const ExitCode written = WriteJson(flags.json, ToJson(settings, rows));
    if (written != kOk) return written;
  }
  return code == kOk ? Judge(connection.target, rows) : code;
}

}  // namespace

void AddBenchCommand(CLI::App& app, const ConnectionOptions& connection, int& exit_code) {
  CLI::App* bench = app.add_subcommand("bench",
                                       "Put a load on the server and measure: a closed loop (each "
                                       "of N callers sends again when it has "
                                       "its answer) or, with --rate, an open loop (requests are "
                                       "due at times of their own, and latency "
                                       "counts from when they were due)");
  auto flags = std::make_shared<BenchFlags>();
  AddBenchFlags(*bench, *flags);
  bench->footer(
      "\nExamples:\n"
      "  trelu bench                                     64 B and 1 MiB, 16 in flight\n"
      "  trelu bench --size 64 --in-flight 1 --duration 5s    latency of a lone caller\n"
      "  trelu bench --size 64 --rate 5000               latency at 5000 requests/s\n"
      "  trelu bench --size 64KiB,1MiB,16MiB --connections 2 --json figures.json\n"
      "  trelu bench --size 1GiB --mode stream --in-flight 2 --requests 8\n"
      "  trelu bench --shape 8,3,224,224 --dtype float16 --verify\n\n"
      "Failed requests are not tried again unless --retries is given, and make the exit code that "
      "of\n"
      "their status (trelu --help has the list); 6 when no request was answered in time. Ctrl-C "
      "ends\n"
      "early and shows what was measured.\n");
  const CLI::Option* retries = app.get_option_no_throw("--retries");
  bench->callback([flags, &connection, &exit_code, retries] {
    exit_code = RunBench(*flags, connection, retries != nullptr && retries->count() > 0);
  });
}

}  // namespace trelu::command
