// grpc.health.v1.Health (gRPC Health Checking Protocol): Check and Watch per service name, on the
// server's own queues.
#ifndef TRELU_SERVER_HEALTH_SERVICE_H_
#define TRELU_SERVER_HEALTH_SERVICE_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <string_view>

#include "grpc/health/v1/health.pb.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/raw_service.h"
#include "server/small_methods.h"
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
  using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

  absl::StatusOr<grpc::health::v1::HealthCheckResponse> Check(
      const grpc::health::v1::HealthCheckRequest& request) const;
  Task Watch(EventQueue& queue);
  // SERVICE_UNKNOWN for a name that is not served.
  ServingStatus StatusOf(std::string_view name) const;

  Corridor& corridor_;
  RawService service_;
  SmallMethods methods_;
  const Method& watch_;
  std::atomic<bool> serving_{false};
  std::atomic<bool> ending_{false};
  Broadcast changed_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_HEALTH_SERVICE_H_
