#include "client/command/connection_options.h"

#include <cmath>
#include <cstdint>

namespace trelu::command {
namespace {

// Checks without a word of its own in --help.
CLI::Validator Quiet(CLI::Validator validator) { return validator.description(""); }

}  // namespace

ClientOptions ConnectionOptions::ToClientOptions() const {
  ClientOptions options;
  options.target = target;
  options.tls.enabled =
      tls || !tls_ca.empty() || !tls_cert.empty() || !tls_key.empty() || !tls_server_name.empty();
  options.tls.ca_file = tls_ca;
  options.tls.cert_file = tls_cert;
  options.tls.key_file = tls_key;
  options.tls.server_name = tls_server_name;
  options.connections = connections;
  options.retry.max_attempts = retries + 1;
  return options;
}

std::chrono::milliseconds ConnectionOptions::Timeout(std::chrono::milliseconds otherwise) const {
  if (!timeout_seconds) return otherwise;
  // Rounded up, so that a tiny limit never turns into none.
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*timeout_seconds * 1000)));
}

namespace {
constexpr double kMaxTimeoutSeconds = 1e9;
}  // namespace

void AddConnectionOptions(CLI::App& app, ConnectionOptions& connection) {
  const std::string group = "Connection";
  app.add_option("-t,--target", connection.target,
                 "The server: HOST:PORT, dns:///HOST:PORT or unix:/PATH")
      ->envname("TRELU_TARGET")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--tls", connection.tls, "Encrypt; any --tls-... option turns it on, too")
      ->group(group);
  app.add_option("--tls-ca", connection.tls_ca,
                 "Who may have signed the server's certificate (PEM); left out: the system's list")
      ->type_name("FILE")
      ->group(group);
  CLI::Option* cert =
      app.add_option("--tls-cert", connection.tls_cert, "Our own certificate (PEM)");
  CLI::Option* key = app.add_option("--tls-key", connection.tls_key, "Its private key (PEM)");
  cert->type_name("FILE")->group(group)->needs(key);
  key->type_name("FILE")->group(group)->needs(cert);
  app.add_option("--tls-server-name", connection.tls_server_name,
                 "The name to expect in the server's certificate; left out: the target's host")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--timeout", connection.timeout_seconds,
                 "Seconds that a call may take, all tries together; 0: no limit")
      ->type_name("SECONDS")
      ->check(Quiet(CLI::Validator(
          [](std::string& text) {
            double seconds = 0;
            // Written so that NaN is refused, too.
            const bool good = CLI::detail::lexical_cast(text, seconds) && seconds >= 0 &&
                              seconds <= kMaxTimeoutSeconds;
            return good ? std::string() : "Value " + text + " not in range [0 - 1e+09]";
          },
          "")))
      ->group(group);
  app.add_option("--connections", connection.connections, "Connections to the server")
      ->check(Quiet(CLI::Range(1, 1024)))
      ->capture_default_str()
      ->group(group);
  app.add_option("--retries", connection.retries,
                 "Tries after the first, when the server says that another may help")
      ->check(Quiet(CLI::Range(0, 1000)))
      ->capture_default_str()
      ->group(group);
}

}  // namespace trelu::command
