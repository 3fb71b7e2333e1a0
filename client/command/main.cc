// The command `trelu`: ThresholdedRelu on a server, from the shell.
#include <absl/synchronization/mutex.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>

#include "client/command/apply_command.h"
#include "client/command/bench_command.h"
#include "client/command/connection_options.h"
#include "client/command/exit_codes.h"
#include "client/command/health_command.h"
#include "client/command/info_command.h"

int main(int argc, char** argv) {
  // Debian builds Abseil with its debugging on: a lock around every lock, and an abort on
  // suspicion.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // A reader that went away is an error of write(), reported like any other.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may grow no further

  using namespace trelu::command;
  CLI::App app{"ONNX ThresholdedRelu on a trelu server: y = x where x > alpha, else 0.", "trelu"};
  app.set_version_flag("--version", "trelu " TRELU_VERSION);
  app.footer(
      "\nExamples:\n"
      "  trelu apply x.npy                       the result of x.npy, shown\n"
      "  trelu -t gpu7:8001 apply x.npy -o y.npy\n"
      "  trelu apply --help                      files, pipes and generated tensors\n"
      "  trelu bench --help                      latency and throughput\n\n" +
      ExitCodesHelp());
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("trelu: ") + error.what() + " (trelu --help tells more)\n";
  });
  // Connection flags may stand behind the subcommand, where people put them.
  app.fallthrough();

  ConnectionOptions connection;
  AddConnectionOptions(app, connection);
  int exit_code = kOk;
  AddApplyCommand(app, connection, exit_code);
  AddBenchCommand(app, connection, exit_code);
  AddHealthCommand(app, connection, exit_code);
  AddInfoCommand(app, connection, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const std::bad_alloc&) {
    static_cast<void>(std::fputs("trelu: out of memory\n", stderr));
    return kInternal;
  }
  return exit_code;
}
