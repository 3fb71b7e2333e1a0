#include "tests/support/in_process_server.h"

#include <absl/synchronization/mutex.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include <utility>
#include "server/log.h"

namespace trelu::testing {
namespace {

// What the server's main does first: Debian's Abseil would otherwise look for deadlocks at every
// lock.
const bool g_prepared = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  server::InitLog(server::LogFormat::kText);
  return true;
}();

}  // namespace

server::Options TestOptions() {
  server::Options options;
  options.listen = {"127.0.0.1:0"};
  options.admin_listen = "127.0.0.1:0";
  options.workers = 2;
  options.drain_delay = std::chrono::milliseconds(0);
  return options;
}

InProcessServer::InProcessServer(const server::Options& options,
                                 std::unique_ptr<Executor> workers) {
  auto started = server::Server::Start(options, std::move(workers));
  if (!started.ok()) throw std::runtime_error("cannot start: " + started.status().ToString());
  server_ = *std::move(started);
}

std::string InProcessServer::target(std::size_t listener) const {
  return server_->addresses().at(listener);
}

MetricsPage InProcessServer::metrics() const {
  return MetricsPage(HttpGet(server_->admin_address(), "/metrics"));
}

bool Eventually(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace trelu::testing
