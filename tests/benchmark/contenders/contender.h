// What every gRPC contender of the benchmark shares with trelu-server, so that only the handlers
// differ: flags, allocator, addresses, TLS, ready line, end on SIGTERM.
#ifndef TRELU_TESTS_BENCHMARK_CONTENDERS_CONTENDER_H_
#define TRELU_TESTS_BENCHMARK_CONTENDERS_CONTENDER_H_

#include <grpcpp/server_builder.h>

#include "server/options.h"

namespace trelu::benchmark {

// The handlers of one contender.
class Handlers {
 public:
  virtual ~Handlers() = default;
  // Before the server starts: registers services, and settings if it wants its own.
  virtual void Register(const server::Options& options, grpc::ServerBuilder& builder) = 0;
  // The server has started.
  virtual void Start() {}
  // It has been shut down: nothing of theirs runs when this returns.
  virtual void Stop() {}
};

// The process' main: takes trelu-server's flags, serves until SIGTERM, gives the exit status.
int ServeContender(int argc, char** argv, Handlers& handlers);

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_CONTENDERS_CONTENDER_H_
