// What a server can be told: the one place where settings, defaults and units are written down.
#ifndef TRELU_SERVER_OPTIONS_H_
#define TRELU_SERVER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace trelu::server {

enum class LogFormat { kText, kJson };
// Which finished calls get a line in the log.
enum class LogCalls { kNone, kFailed, kAll };

struct Options {
  // gRPC addresses: "host:port", "[v6]:port" or "unix:/path". Port 0 lets the system choose.
  std::vector<std::string> listen = {"0.0.0.0:8001"};
  // HTTP address of /metrics, /livez and /readyz; empty: none.
  std::string admin_listen = "0.0.0.0:8002";

  // Threads that compute tensors in shared memory and those above inline_bytes; 0: as many
  // processors as the affinity mask and the cgroup's CPU quota leave us.
  int workers = 0;
  // Tensors (on a stream: messages) of at most this many bytes are computed on the thread that
  // received them, a block of 1 MiB at a time between other calls; larger ones, and tensors in
  // shared memory from 1 MiB on, by the workers; 0 sends all to the workers.
  std::uint64_t inline_bytes = std::uint64_t{64} << 20;
  // While the last wait of a queue's thread was shorter than this, the next one is spent looking
  // for events without sleeping, for this long at most. Takes a processor for the latency of a lone
  // caller; 0: never.
  std::chrono::microseconds busy_poll{0};
  // The largest message; a larger one is answered with RESOURCE_EXHAUSTED.
  std::uint64_t max_message_bytes = std::uint64_t{64} << 20;
  // The budget of bytes in flight; beyond it, UNAVAILABLE. 0: a quarter of the cgroup's memory
  // limit or of the machine's memory, at least 64 MiB and at most 4 GiB.
  std::uint64_t max_inflight_bytes = 0;

  // Connections are asked to reconnect after about this long; 0: never.
  std::chrono::milliseconds max_connection_age = std::chrono::minutes(30);
  // A stream on which nothing was read or written for this long is ended; 0: never.
  std::chrono::milliseconds stream_idle_timeout = std::chrono::minutes(5);

  // A directory NAME/VERSION/model.onnx; empty: only the built-in models. Looked at again this
  // often; 0: never.
  std::string model_repository;
  std::chrono::milliseconds model_repository_poll = std::chrono::seconds(2);

  // What the names of shared memory objects that clients may register begin with, one leading slash
  // not counted; "/": anything; empty: shared memory is off.
  std::string shared_memory_prefix;
  // How much may be registered at once: pages that the server touches first count as its own. 0:
  // half of the cgroup's memory limit or of the machine's memory.
  std::uint64_t max_shared_memory_bytes = 0;

  // PEM files. Certificate and key go together; a client CA makes client certificates required.
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;

  // Serves grpc.reflection.v1alpha.
  bool reflection = true;

  // After SIGTERM: how long to keep serving while saying NOT_SERVING (a second signal ends it),
  // then how long calls in flight may take.
  std::chrono::milliseconds drain_delay = std::chrono::seconds(5);
  std::chrono::milliseconds drain_grace = std::chrono::seconds(20);

  LogFormat log_format = LogFormat::kText;
  LogCalls log_calls = LogCalls::kFailed;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_OPTIONS_H_
