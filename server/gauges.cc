#include "server/gauges.h"

namespace trelu::server {

void AddGauges(Metrics& metrics, const Corridor& corridor,
               const std::vector<ThreadClock>& queue_clocks, const SharedMemory& shared_memory) {
  metrics.AddGauge("trelu_inflight_bytes", "Bytes of messages being computed or answered.",
                   [&] { return static_cast<double>(corridor.admission.bytes_in_flight()); });
  metrics.AddGauge("trelu_inflight_limit_bytes", "How many there may be.",
                   [&] { return static_cast<double>(corridor.admission.max_bytes()); });
  metrics.AddGauge("trelu_inflight_calls", "Calls in flight, health watches not counted.",
                   [&] { return static_cast<double>(corridor.calls.value()); });
  metrics.AddGauge("trelu_shared_memory_regions", "Shared memory regions registered by clients.",
                   [&] { return static_cast<double>(shared_memory.totals().regions); });
  metrics.AddGauge("trelu_shared_memory_bytes", "Their size together.",
                   [&] { return static_cast<double>(shared_memory.totals().bytes); });
  metrics.AddCounters("trelu_queue_busy_seconds_total",
                      "Time that the threads that take calls up and answer them ran or, for want "
                      "of a processor, could not.",
                      "queue", [&] {
                        std::vector<double> seconds;
                        for (const ThreadClock& clock : queue_clocks) {
                          const ThreadTime time = clock.Read();
                          seconds.push_back(time.ran + time.waited);
                        }
                        return seconds;
                      });
}

}  // namespace trelu::server
