// The trelu client: ThresholdedRelu on a server, called like a function.
#ifndef TRELU_CLIENT_H_
#define TRELU_CLIENT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trelu/tensor_spec.h"

namespace trelu {

// How to trust the server and to be trusted by it. Files are PEM.
struct TlsOptions {
  // Off: plaintext. The files below are used only when it is on.
  bool enabled = false;
  // Who may have signed the server's certificate; empty: the system's authorities.
  std::string ca_file{};
  // Our own certificate and key, for servers that ask for one; both or neither.
  std::string cert_file{};
  std::string key_file{};
  // The name to expect in the server's certificate; empty: the target's host.
  std::string server_name{};
};

// Failed calls are tried again when the server says that another try may help: UNAVAILABLE, or a
// CANCELLED that nobody here asked for. The operator is pure, so trying again is always safe. A
// wait is the server's push-back when it gives one, else between zero and the backoff, which
// doubles. A wait that would not end before the deadline is not made: the failure is returned.
struct RetryOptions {
  int max_attempts = 4;  // 1: never try again
  std::chrono::milliseconds initial_backoff{50};
  std::chrono::milliseconds max_backoff{1000};
};

// Whether tensors may go through memory that the server maps too, instead of the connection.
enum class SharedMemory {
  // When the target is this very host ("unix:", "localhost", 127.0.0.0/8, [::1]; not a name after
  // "dns:", which may mean several servers) and the server allows it (its flag
  // --shared-memory-prefix); whatever stands in the way, the call goes over the connection instead.
  // Server and client then run as the same user in the same IPC namespace. A process that is killed
  // while it registers an object (one round trip) leaves it in /dev/shm.
  kAuto,
  kNever,
};

struct ClientOptions {
  // "host:port", "dns:///host:port" (calls are spread over all its addresses, round robin) or
  // "unix:/path".
  std::string target = "localhost:8001";
  TlsOptions tls{};
  // Connections to open; calls take them in turn. More than one helps throughput of large tensors.
  int connections = 1;
  RetryOptions retry{};
  // Tensors above this size go as a stream by themselves.
  std::uint64_t stream_above_bytes = std::uint64_t{8} << 20;
  // Payload bytes of one message of a stream.
  std::uint64_t chunk_bytes = std::uint64_t{1} << 20;
  SharedMemory shared_memory = SharedMemory::kAuto;
  // Tensors above this size go through shared memory where it can be had. Those in the caller's own
  // memory pass through a few MiB of it, piece by piece; each call in flight has its own.
  std::uint64_t shared_memory_above_bytes = std::uint64_t{256} << 10;
};

// Per call.
struct ApplyOptions {
  // Left out: the operator's default, 1.0.
  std::optional<float> alpha{};
  // From now to the answer, all tries together; zero: no limit. gRPC ends a call only when the
  // connection has taken what was being written to it: with a server that has stopped reading
  // without closing (a stopped process, a host that hangs), and more bytes than the socket's
  // buffers take, the call ends when the server goes on or the connection ends, which TCP gives up
  // after about 20 seconds, a Unix socket never.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

// What a server says of itself.
struct ServerInfo {
  std::string version;
  std::chrono::duration<double> uptime{};
  std::string kernel_level;
  std::uint32_t workers = 0;
  std::uint64_t inline_bytes = 0;
  std::uint64_t max_message_bytes = 0;
  std::uint64_t max_inflight_bytes = 0;
  std::vector<DType> dtypes;
  // What names of shared memory objects must begin with for this server to use them; "/": any;
  // empty: it uses none.
  std::string shared_memory_prefix{};
};

// Memory for tensors that the server works on where they are, so that nothing is copied. Any
// thread. As with any memory, it must stay until the calls that use it have ended; it may outlive
// its client. A child process after fork() may release it, no more.
class SharedBuffer {
 public:
  virtual ~SharedBuffer() = default;

  // Give all of it, or any part, as `x` or `y` to the client that made it. Aligned for every
  // element type; at first unspecified. Stays while the buffer lives, also without its client.
  virtual std::span<std::byte> bytes() const = 0;

  // Whether the server sees the memory, as far as is known: that it has been restarted shows with
  // the next call. When it does not (the server is remote, does not allow it, was not up when the
  // buffer was made, or has been restarted since; or the client is gone), the memory is like any
  // other, and calls copy. That stays so: make a new buffer to share again, ten seconds after the
  // server could not at the earliest.
  virtual bool shared() const = 0;
};

enum class ServingStatus { kServing, kNotServing, kServiceUnknown };

// A connection to a server, or several. Any thread may call any function at any time; destroying it
// waits for asynchronous calls, which end with CANCELLED.
//
// Errors are the server's, code and message, except: DEADLINE_EXCEEDED and UNAVAILABLE also come
// from here, INVALID_ARGUMENT for sizes that do not fit each other, and DATA_LOSS when the server's
// answer does not have the tensor, or the bytes, that the request had.
class Client {
 public:
  // Does not wait for the connection. INVALID_ARGUMENT for options that make no sense, NOT_FOUND or
  // PERMISSION_DENIED for TLS files, with the path.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options);
  virtual ~Client() = default;

  // y = ThresholdedRelu(x). `x` and `y` have spec.bytes() bytes and need no alignment; y may be x,
  // but not overlap it in part (INVALID_ARGUMENT), and is unspecified after an error. Blocks.
  virtual absl::Status Apply(const TensorSpec& spec, std::span<const std::byte> x,
                             std::span<std::byte> y, const ApplyOptions& options = {}) = 0;

  // The same, without blocking. `x` and `y` must stay until `done` was called, once, on a thread of
  // the client's, which it should not hold up; or on this one, with RESOURCE_EXHAUSTED, when the
  // system gives the client no thread. It may call ApplyAsync; it must not destroy the client.
  virtual void ApplyAsync(const TensorSpec& spec, std::span<const std::byte> x,
                          std::span<std::byte> y, const ApplyOptions& options,
                          std::function<void(absl::Status)> done) = 0;

  // A buffer of `bytes` bytes. Blocks while the system makes the memory (a second for a GiB or so)
  // and, for two seconds at most, while it asks the server. That the server cannot share it is no
  // error, see SharedBuffer::shared; RESOURCE_EXHAUSTED: there is no memory for it at all.
  //
  // After a call that ended in DEADLINE_EXCEEDED, CANCELLED, UNAVAILABLE or DATA_LOSS the server
  // may go on writing to a `y` in shared memory for a moment: take a new buffer for what comes
  // next. For the same reason a call with such a `y` is tried again only when the server itself
  // refused it.
  virtual absl::StatusOr<std::unique_ptr<SharedBuffer>> NewSharedBuffer(std::size_t bytes) = 0;

  // Fills all of the buffer with the tensor's next bytes, or returns an error, which ends the call.
  using Source = std::function<absl::Status(std::span<std::byte>)>;
  // Takes the result's next bytes, which are valid during the call; an error ends the call.
  using Sink = std::function<absl::Status(std::span<const std::byte>)>;

  // A tensor of any size through constant memory. `source` and `sink` are called on the calling
  // thread, in turn, as the transport has room and results; source is asked for spec.bytes() bytes
  // in all, at most chunk_bytes at a time. Blocks. Never tried again once the source was asked.
  // options.timeout is for the whole stream.
  virtual absl::Status ApplyStream(const TensorSpec& spec, const Source& source, const Sink& sink,
                                   const ApplyOptions& options = {}) = 0;

  // grpc.health.v1: `service` empty asks for the server as a whole. Blocks; is never tried
  // again, and nor is GetInfo.
  virtual absl::StatusOr<ServingStatus> CheckHealth(
      const std::string& service = "",
      std::chrono::milliseconds timeout = std::chrono::seconds(5)) = 0;

  virtual absl::StatusOr<ServerInfo> GetInfo(
      std::chrono::milliseconds timeout = std::chrono::seconds(5)) = 0;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_H_
