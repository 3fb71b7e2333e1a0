#include "server/thresholded_relu_service.h"

namespace trelu::server {

ThresholdedReluService::ThresholdedReluService(Corridor& corridor)
    : corridor_(corridor),
      apply_(corridor.metrics, "unary", "trelu.v1.ThresholdedRelu", "Apply"),
      apply_stream_(corridor.metrics, "bidi_stream", "trelu.v1.ThresholdedRelu", "ApplyStream") {}

void ThresholdedReluService::Accept(EventQueue& queue) {
  // A call that finds no waiting handler goes through a locked list first, so a few wait at all
  // times; not many, since Debian's gRPC scans a queue's outstanding tags at every completion.
  constexpr int kWaiting = 8;
  for (int i = 0; i < kWaiting; ++i) {
    Apply(queue);
    ApplyStream(queue);
  }
}

}  // namespace trelu::server
