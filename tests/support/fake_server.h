// A server that answers as a test tells it to, over the real transport.
#ifndef TRELU_TESTS_SUPPORT_FAKE_SERVER_H_
#define TRELU_TESTS_SUPPORT_FAKE_SERVER_H_

#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace trelu::v1 {
class ApplyResponse;
}  // namespace trelu::v1

namespace trelu::testing {

// Opens once. Threads wait in front of it instead of sleeping.
class Gate {
 public:
  void Open();
  // Whether it opened within `time`.
  bool WaitFor(std::chrono::milliseconds time);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// What the fake server does to Apply and ApplyStream. By default it answers right.
struct Script {
  // The first `failures` tries end with `failure`, and with `push_back` in grpc-retry-pushback-ms
  // when it is given. A stream fails after `failure_after_messages` answered messages.
  int failures = 0;
  grpc::StatusCode failure = grpc::StatusCode::UNAVAILABLE;
  std::optional<std::string> push_back{};
  int failure_after_messages = 0;
  // Before it does anything else, a try waits for the gate, or until it is cancelled.
  std::shared_ptr<Gate> gate{};
  // Changes each answer before it goes out. Of a stream, message by message.
  std::function<void(v1::ApplyResponse&)> distort{};
  // A stream's answers are cut after so many bytes; 0: each message is answered by one.
  std::size_t answer_bytes = 0;
  // A stream ends, with OK, after so many answers.
  std::optional<int> answers{};
};

class FakeServer {
 public:
  struct Options {
    std::string listen = "127.0.0.1:0";
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    // What GetInfo says of shared memory, and a further service, which outlives the server.
    std::string shared_memory_prefix{};
    grpc::Service* further = nullptr;
  };

  FakeServer();
  explicit FakeServer(const Options& options);
  ~FakeServer();

  // "127.0.0.1:PORT", or "unix:PATH" as it was given.
  std::string target() const;
  int port() const { return port_; }

  // For the calls that begin from now on.
  void SetScript(Script script);

  // Waits until so many tries of Apply and ApplyStream, of all time, have arrived.
  void WaitForTries(int count);
  int tries() const;
  // The peers that tries came from: one for each connection.
  std::set<std::string> peers() const;

 private:
  class ApplyService;
  class InfoService;
  class HealthService;

  std::string listen_;
  std::unique_ptr<ApplyService> apply_;
  std::unique_ptr<InfoService> info_;
  std::unique_ptr<HealthService> health_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_FAKE_SERVER_H_
