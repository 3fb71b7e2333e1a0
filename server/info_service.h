// trelu.v1.Server: what a client can ask the server about itself.
#ifndef TRELU_SERVER_INFO_SERVICE_H_
#define TRELU_SERVER_INFO_SERVICE_H_

#include <chrono>

#include "server/call_scope.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/task.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu::server {

class InfoService {
 public:
  explicit InfoService(Corridor& corridor);

  grpc::Service& service() { return service_; }
  void Accept(EventQueue& queue);

 private:
  Task GetInfo(EventQueue& queue);
  v1::GetInfoResponse Describe() const;

  Corridor& corridor_;
  v1::Server::WithRawMethod_GetInfo<v1::Server::Service> service_;
  Method get_info_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFO_SERVICE_H_
