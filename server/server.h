// The server: everything wired together in one place, started, drained and stopped.
#ifndef TRELU_SERVER_SERVER_H_
#define TRELU_SERVER_SERVER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "core/executor.h"
#include "server/options.h"

namespace trelu::server {

// A running server. Start returns it ready; the destructor drains without delay if nobody did.
class Server {
 public:
  // INVALID_ARGUMENT for options that contradict each other; FAILED_PRECONDITION or UNAVAILABLE,
  // naming the address or the file's path, when an address is taken or a file cannot be used.
  // `workers` computes large tensors; null: a WorkerPool of options.workers threads.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options,
                                                       std::unique_ptr<Executor> workers = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The addresses in use, ports filled in, in the order of Options::listen.
  const std::vector<std::string>& addresses() const;
  // The admin port's address, empty without one.
  const std::string& admin_address() const;

  // Says NOT_SERVING, waits drain_delay (cut short by HurryDrain), refuses new calls with
  // UNAVAILABLE, lets calls in flight finish for drain_grace, cuts the rest, and stops. Returns
  // when nothing runs any more. Any thread; a second call waits for the first.
  void Drain();
  // Ends the drain delay at once. Any thread.
  void HurryDrain();

  // For tests and gauges.
  int calls_in_flight() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SERVER_H_
