// The server's measurements: cheap to record on the request path, folded together when scraped.
#ifndef TRELU_SERVER_METRICS_H_
#define TRELU_SERVER_METRICS_H_

#include <grpcpp/support/status.h>
#include <prometheus/collectable.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trelu::server {

// Why a request was turned away; the values of the label `reason`.
enum class Rejection { kInvalid, kTooLarge, kOverBudget, kDraining, kDeadline, kCancelled, kIdle };

// One gRPC method's series, resolved at start. Any thread.
class MethodMetrics {
 public:
  MethodMetrics(std::string type, std::string service, std::string method);
  ~MethodMetrics();
  void Started();
  // `handling` is from when the queue's thread takes the call up to the end of its last operation.
  void Handled(grpc::StatusCode code, std::chrono::nanoseconds handling);

 private:
  friend class Metrics;
  struct State;
  std::unique_ptr<State> state_;
};

// All series of one server. The request path touches only objects that were made at start; Collect
// (any thread, any time) adds the shards up. Names are listed in the README.
class Metrics : public prometheus::Collectable {
 public:
  Metrics();
  ~Metrics() override;

  // At start only. `type` is "unary" or "bidi_stream" or "server_stream". The reference stays valid
  // as long as the object.
  MethodMetrics& AddMethod(std::string type, std::string service, std::string method);
  // At start only. A gauge that is read when scraped; `read` must be callable from any thread for
  // as long as the object lives.
  void AddGauge(std::string name, std::string help, std::function<double()> read);
  // The same for a family of counters: what `read` gives, each with its position as `label`.
  void AddCounters(std::string name, std::string help, std::string label,
                   std::function<std::vector<double>()> read);

  void Kernel(std::chrono::nanoseconds duration);  // trelu_kernel_seconds
  void Queue(std::chrono::nanoseconds duration);   // trelu_queue_seconds: wait for a worker
  void RequestBytes(std::uint64_t bytes);   // trelu_request_bytes: payload of a tensor or message
  void ResponseBytes(std::uint64_t bytes);  // trelu_response_bytes_total: payload of an answer
  void Rejected(Rejection reason);          // trelu_rejected_total

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_METRICS_H_
