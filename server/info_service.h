// trelu.v1.Server: what a client can ask the server about itself.
#ifndef TRELU_SERVER_INFO_SERVICE_H_
#define TRELU_SERVER_INFO_SERVICE_H_

#include <chrono>

#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/raw_service.h"
#include "server/small_methods.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::server {

class InfoService {
 public:
  explicit InfoService(Corridor& corridor);

  grpc::Service& service() { return service_; }
  void Accept(EventQueue& queue) { methods_.Accept(queue); }

 private:
  v1::GetInfoResponse GetInfo() const;

  Corridor& corridor_;
  RawService service_;
  SmallMethods methods_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFO_SERVICE_H_
