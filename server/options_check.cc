#include "server/options_check.h"

#include <absl/status/statusor.h>

#include <array>
#include <climits>
#include <set>
#include <string>
#include <utility>

#include "server/address.h"
#include "server/log.h"
#include "server/units.h"

namespace trelu::server {
namespace {

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::Status CheckAddresses(const Options& options) {
  if (options.listen.empty()) return Wrong("--listen: at least one address is needed");
  std::set<std::string> taken;
  for (const std::string& text : options.listen) {
    const absl::StatusOr<Address> address = ParseAddress(text);
    if (!address.ok()) return Wrong("--listen: " + std::string(address.status().message()));
    const bool chosen_by_system = !address->is_unix() && address->port == 0;
    if (!chosen_by_system && !taken.insert(address->ToString()).second) {
      return Wrong("--listen: " + text + " is there twice");
    }
  }
  if (options.admin_listen.empty()) return absl::OkStatus();
  const absl::StatusOr<Address> admin = ParseAddress(options.admin_listen);
  if (!admin.ok()) return Wrong("--admin-listen: " + std::string(admin.status().message()));
  if (admin->is_unix()) return Wrong("--admin-listen: expected host:port or [ipv6]:port");
  if (admin->port != 0 && taken.count(admin->ToString()) != 0) {
    return Wrong("--admin-listen and --listen: both want " + options.admin_listen);
  }
  return absl::OkStatus();
}

absl::Status CheckSharedMemory(const Options& options) {
  const std::string& prefix = options.shared_memory_prefix;
  const std::string can_begin_none =
      "--shared-memory-prefix: \"" + Printable(prefix, 64) + "\" can begin no name: ";
  if (prefix.find('/', 1) != std::string::npos) {
    return Wrong(can_begin_none + "objects have no slash after the first byte");
  }
  if (prefix.size() > NAME_MAX + (prefix.starts_with('/') ? 1U : 0U)) {
    return Wrong(can_begin_none + "objects have at most " + std::to_string(NAME_MAX) +
                 " bytes after the first slash");
  }
  return absl::OkStatus();
}

absl::Status CheckTls(const Options& options) {
  if (!options.tls_key.empty() && options.tls_cert.empty()) {
    return Wrong("--tls-key needs --tls-cert beside it");
  }
  if (!options.tls_cert.empty() && options.tls_key.empty()) {
    return Wrong("--tls-cert needs --tls-key beside it");
  }
  if (!options.tls_client_ca.empty() && options.tls_cert.empty()) {
    return Wrong("--tls-client-ca needs --tls-cert and --tls-key beside it");
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const Options& options, std::uint64_t memory_bytes) {
  if (options.workers < 0 || options.workers > kMaxWorkers) {
    return Wrong("--workers: expected 0 to " + std::to_string(kMaxWorkers));
  }
  if (options.max_message_bytes < 1 || options.max_message_bytes > kMaxMessageBytes) {
    return Wrong("--max-message-bytes: expected 1 to " + FormatBytes(kMaxMessageBytes));
  }
  if (options.max_message_bytes > memory_bytes) {
    return Wrong("--max-message-bytes: " + FormatBytes(options.max_message_bytes) +
                 " is more than the " + FormatBytes(memory_bytes) + " of memory here");
  }
  using Duration = std::pair<const char*, std::chrono::milliseconds>;
  const std::array durations = {
      Duration("--max-connection-age", options.max_connection_age),
      Duration("--stream-idle-timeout", options.stream_idle_timeout),
      Duration("--model-repository-poll", options.model_repository_poll),
      Duration("--drain-delay", options.drain_delay),
      Duration("--drain-grace", options.drain_grace),
  };
  for (const auto& [flag, duration] : durations) {
    if (duration.count() < 0 || duration > kMaxDuration) {
      return Wrong(std::string(flag) + ": expected 0 to " + FormatDuration(kMaxDuration));
    }
  }
  if (options.busy_poll.count() < 0 || options.busy_poll > kMaxBusyPoll) {
    return Wrong("--busy-poll: expected 0 to " + FormatDuration(kMaxBusyPoll));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const Options& options, std::uint64_t memory_bytes) {
  if (absl::Status status = CheckAddresses(options); !status.ok()) return status;
  if (absl::Status status = CheckTls(options); !status.ok()) return status;
  if (absl::Status status = CheckSharedMemory(options); !status.ok()) return status;
  return CheckNumbers(options, memory_bytes);
}

}  // namespace trelu::server
