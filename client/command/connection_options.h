// The flags that say which server to talk to and how; the same for every subcommand.
#ifndef TRELU_CLIENT_COMMAND_CONNECTION_OPTIONS_H_
#define TRELU_CLIENT_COMMAND_CONNECTION_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "trelu/client.h"

namespace trelu::command {

// Filled by parsing; read it from a subcommand's callback, not before.
struct ConnectionOptions {
  std::string target = "localhost:8001";
  // Any of the files or the name below turns TLS on, too.
  bool tls = false;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  // Of each call; 0: no limit. Left out: the subcommand's own default.
  std::optional<double> timeout_seconds;
  int connections = 1;
  // Tries after the first one; 0: never try again.
  int retries = 3;

  ClientOptions ToClientOptions() const;

  // The limit of a call: --timeout, or `otherwise`. Zero is none.
  std::chrono::milliseconds Timeout(std::chrono::milliseconds otherwise) const;
};

// Adds the flags to `app`, which must let its subcommands' arguments fall through to it.
// `connection` must outlive the parsing.
void AddConnectionOptions(CLI::App& app, ConnectionOptions& connection);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_CONNECTION_OPTIONS_H_
