// `trelu health`: whether a server, or one of its services, takes requests.
#ifndef TRELU_CLIENT_COMMAND_HEALTH_COMMAND_H_
#define TRELU_CLIENT_COMMAND_HEALTH_COMMAND_H_

#include <CLI/CLI.hpp>

#include "client/command/connection_options.h"

namespace trelu::command {

// Adds the subcommand to `app`. It runs while `app` parses and leaves its exit code in `exit_code`;
// both references must outlive the parsing.
void AddHealthCommand(CLI::App& app, const ConnectionOptions& connection, int& exit_code);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_HEALTH_COMMAND_H_
