// trelu-server: parses its flags, serves, and drains on SIGTERM or SIGINT.
#include <absl/synchronization/mutex.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX, not C++
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <variant>

#include "server/allocator.h"
#include "server/command_line.h"
#include "server/idle_trim.h"
#include "server/log.h"
#include "server/machine.h"
#include "server/server.h"
#include "server/version.h"

namespace {

// SIGTERM and SIGINT, blocked in every thread and waited for by one.
sigset_t BlockStopSignals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  for (const int ignored : {SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2}) signal(ignored, SIG_IGN);
  return stop;
}

std::string Join(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ",") + part;
  return joined;
}

}  // namespace

int main(int argc, char** argv) {
  // Debian builds Abseil without NDEBUG, so every gRPC lock would go through one process-wide
  // deadlock detector.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const auto parsed = trelu::server::ParseCommandLine(argc, argv, std::cout, std::cerr);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& options = std::get<trelu::server::Options>(parsed);

  const sigset_t stop = BlockStopSignals();
  trelu::server::InitLog(options.log_format);
  trelu::server::TuneAllocator(trelu::server::AvailableCpus());
  trelu::server::RaiseFileLimit();
  auto server = trelu::server::Server::Start(options);
  if (!server.ok()) {
    trelu::server::Log(trelu::server::LogLevel::kError, "cannot start",
                       {{"reason", std::string(server.status().message())}});
    return server.status().code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
  }
  std::printf("trelu-server %s ready listen=%s admin=%s\n", trelu::server::kVersion,
              Join((*server)->addresses()).c_str(), (*server)->admin_address().c_str());
  std::fflush(stdout);

  constexpr std::chrono::seconds kBetweenLooks(5);
  const trelu::server::IdleTrim trim(kBetweenLooks, trelu::server::IdleTrim::Real([&] {
                                       return (*server)->calls_in_flight() != 0;
                                     }));
  int signal_number = 0;
  sigwait(&stop, &signal_number);
  trelu::server::Log(trelu::server::LogLevel::kInfo, "draining");
  std::thread second_signal([&] {
    sigwait(&stop, &signal_number);
    (*server)->HurryDrain();
  });
  (*server)->Drain();
  // It is blocked everywhere: this ends the wait above, not the thread.
  // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread)
  pthread_kill(second_signal.native_handle(), SIGTERM);
  second_signal.join();
  trelu::server::Log(trelu::server::LogLevel::kInfo, "stopped");
  return 0;
}
