// The native face: trelu.v1.ThresholdedRelu on completion queues, without a copy of any payload.
#ifndef TRELU_SERVER_THRESHOLDED_RELU_SERVICE_H_
#define TRELU_SERVER_THRESHOLDED_RELU_SERVICE_H_

#include "server/call_scope.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/task.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu::server {

class ThresholdedReluService {
 public:
  explicit ThresholdedReluService(Corridor& corridor);

  // For ServerBuilder::RegisterService.
  grpc::Service& service() { return service_; }

  // Begins to take calls from `queue`, on its thread, after the server has started.
  void Accept(EventQueue& queue);

 private:
  using Raw = v1::ThresholdedRelu::WithRawMethod_Apply<
      v1::ThresholdedRelu::WithRawMethod_ApplyStream<v1::ThresholdedRelu::Service>>;

  // Each waits for one call, arms its successor, and serves the call to its end.
  Task Apply(EventQueue& queue);
  Task ApplyStream(EventQueue& queue);

  Corridor& corridor_;
  Raw service_;
  Method apply_;
  Method apply_stream_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_THRESHOLDED_RELU_SERVICE_H_
