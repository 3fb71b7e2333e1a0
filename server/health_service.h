// grpc.health.v1.Health (gRPC Health Checking Protocol): Check and Watch per service name, on the
// server's own queues.
#ifndef TRELU_SERVER_HEALTH_SERVICE_H_
#define TRELU_SERVER_HEALTH_SERVICE_H_

#include <atomic>
#include <string>
#include <string_view>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/call_scope.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/task.h"

namespace trelu::server {

// Serves the names "" (the whole server), each gRPC service, "readiness" (the same) and "liveness"
// (serving until the process ends: draining is not illness).
class HealthService {
 public:
  explicit HealthService(Corridor& corridor);

  grpc::Service& service() { return service_; }
  void Accept(EventQueue& queue);

  bool serving() const { return serving_.load(std::memory_order_acquire); }
  // Any thread. Watchers are told.
  void SetServing(bool serving);
  // Ends every Watch, with UNAVAILABLE, so that none holds up the server's end. Any thread.
  void EndWatches();

 private:
  using Raw = grpc::health::v1::Health::WithRawMethod_Check<
      grpc::health::v1::Health::WithRawMethod_Watch<grpc::health::v1::Health::Service>>;
  using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

  Task Check(EventQueue& queue);
  Task Watch(EventQueue& queue);
  // SERVICE_UNKNOWN for a name that is not served.
  ServingStatus StatusOf(std::string_view name) const;

  Corridor& corridor_;
  Raw service_;
  Method check_;
  Method watch_;
  std::atomic<bool> serving_{false};
  std::atomic<bool> ending_{false};
  Broadcast changed_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_HEALTH_SERVICE_H_
