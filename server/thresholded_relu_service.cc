#include "server/thresholded_relu_service.h"

#include "trelu/v1/trelu.pb.h"

namespace trelu::server {

ThresholdedReluService::ThresholdedReluService(Corridor& corridor)
    : corridor_(corridor),
      service_(*v1::ApplyRequest::descriptor()->file()->FindServiceByName("ThresholdedRelu"),
               corridor.metrics),
      apply_(service_.Add("Apply")),
      apply_stream_(service_.Add("ApplyStream")) {}

void ThresholdedReluService::Accept(EventQueue& queue) {
  for (int i = 0; i < kWaitingCalls; ++i) {
    Apply(queue);
    ServeStream(corridor_, service_, apply_stream_, begin_apply_stream_, queue);
  }
}

}  // namespace trelu::server
