// The native face: trelu.v1.ThresholdedRelu on completion queues, without a copy of any payload.
#ifndef TRELU_SERVER_THRESHOLDED_RELU_SERVICE_H_
#define TRELU_SERVER_THRESHOLDED_RELU_SERVICE_H_

#include <memory>

#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/raw_service.h"
#include "server/stream_call.h"
#include "server/task.h"

namespace trelu::server {

class ThresholdedReluService {
 public:
  explicit ThresholdedReluService(Corridor& corridor);

  // For ServerBuilder::RegisterService.
  grpc::Service& service() { return service_; }

  // Begins to take calls from `queue`, on its thread, after the server has started.
  void Accept(EventQueue& queue);

 private:
  // Waits for one call, arms its successor, and serves the call to its end.
  Task Apply(EventQueue& queue);
  static std::unique_ptr<Conversation> BeginApplyStream(CallScope& call,
                                                        const grpc::ServerContext& context);

  Corridor& corridor_;
  RawService service_;
  const Method& apply_;
  const Method& apply_stream_;
  const BeginConversation begin_apply_stream_ = BeginApplyStream;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_THRESHOLDED_RELU_SERVICE_H_
