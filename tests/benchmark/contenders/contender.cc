#include "tests/benchmark/contenders/contender.h"

#include <absl/strings/str_join.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/server.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <variant>

#include "server/allocator.h"
#include "server/command_line.h"
#include "server/credentials.h"
#include "server/listeners.h"
#include "server/machine.h"

namespace trelu::benchmark {

int ServeContender(int argc, char** argv, Handlers& handlers) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const auto parsed = server::ParseCommandLine(argc, argv, std::cout, std::cerr);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& options = std::get<server::Options>(parsed);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  server::TuneAllocator(server::AvailableCpus());

  grpc::ServerBuilder builder;
  handlers.Register(options, builder);
  server::Listeners listeners(options.listen);
  const auto credentials = server::MakeCredentials(options);
  const absl::Status added =
      credentials.ok() ? listeners.AddTo(builder, *credentials) : credentials.status();
  const std::unique_ptr<grpc::Server> server = added.ok() ? builder.BuildAndStart() : nullptr;
  if (!server) {
    std::cerr << (added.ok() ? listeners.WhyNotStarted() : added) << '\n';
    return 1;
  }
  handlers.Start();
  std::printf("contender ready listen=%s\n", absl::StrJoin(listeners.Bound(), ",").c_str());
  std::fflush(stdout);
  int signal_number = 0;
  sigwait(&stop, &signal_number);
  server->Shutdown(std::chrono::system_clock::now());
  handlers.Stop();
  return 0;
}

}  // namespace trelu::benchmark
