// Prints a metrics page with every kind of series in it, for promtool to check.
#include <prometheus/text_serializer.h>

#include <chrono>
#include <iostream>
#include <vector>

#include "server/metrics.h"

int main() {
  trelu::server::Metrics metrics;
  metrics.AddGauge("trelu_inflight_bytes", "Payload in flight.", [] { return 4096.0; });
  metrics.AddCounters("trelu_queue_busy_seconds_total", "Busy time of the queues' threads.",
                      "queue", [] {
                        return std::vector<double>{0.5, 0};
                      });
  for (const char* method : {"Apply", "ApplyStream"}) {
    trelu::server::MethodMetrics& series =
        metrics.AddMethod("unary", "trelu.v1.ThresholdedRelu", method);
    for (int code = 0; code <= 16; ++code) {
      series.Started();
      series.Handled(static_cast<grpc::StatusCode>(code), std::chrono::microseconds(10 << code));
    }
  }
  metrics.Kernel(std::chrono::microseconds(3));
  metrics.Queue(std::chrono::seconds(30));
  metrics.RequestBytes(1 << 20);
  metrics.Rejected(trelu::server::Rejection::kIdle);
  std::cout << prometheus::TextSerializer().Serialize(metrics.Collect());
  return 0;
}
