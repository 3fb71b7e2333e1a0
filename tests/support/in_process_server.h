// A real server inside the test's process, on ports that the system chose.
#ifndef TRELU_TESTS_SUPPORT_IN_PROCESS_SERVER_H_
#define TRELU_TESTS_SUPPORT_IN_PROCESS_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "server/options.h"
#include "server/server.h"
#include "tests/support/metrics_page.h"

namespace trelu::testing {

// 127.0.0.1 with port 0 for gRPC and HTTP, two workers, no drain delay; the rest as in production.
server::Options TestOptions();

// Drains when it goes. Throws when the server does not start, which fails the test that made it.
class InProcessServer {
 public:
  // `workers` as for Server::Start.
  explicit InProcessServer(const server::Options& options = TestOptions(),
                           std::unique_ptr<Executor> workers = nullptr);

  server::Server& operator*() { return *server_; }
  server::Server* operator->() { return server_.get(); }

  // What a channel connects to, of Options::listen in order.
  std::string target(std::size_t listener = 0) const;

  // Read over HTTP, as a scraper does. Only with an admin address.
  MetricsPage metrics() const;

 private:
  std::unique_ptr<server::Server> server_;
};

// Whether `condition` came true within ten seconds. For what a server does after its answer is out,
// which nothing announces.
bool Eventually(const std::function<bool()>& condition);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_IN_PROCESS_SERVER_H_
