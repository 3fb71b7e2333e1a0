// `trelu bench`: puts a load on a server and says how fast it answered.
#ifndef TRELU_CLIENT_COMMAND_BENCH_COMMAND_H_
#define TRELU_CLIENT_COMMAND_BENCH_COMMAND_H_

#include <CLI/CLI.hpp>

#include "client/command/connection_options.h"

namespace trelu::command {

// Adds the subcommand to `app`, to which the connection flags were added before. It runs while
// `app` parses and leaves its exit code in `exit_code`; all references must outlive the parsing.
void AddBenchCommand(CLI::App& app, const ConnectionOptions& connection, int& exit_code);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_COMMAND_H_
