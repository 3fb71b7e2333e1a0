// What the server is like at the moment of a scrape.
#ifndef TRELU_SERVER_GAUGES_H_
#define TRELU_SERVER_GAUGES_H_

#include <vector>

#include "server/corridor.h"
#include "server/metrics.h"
#include "server/shared_memory/shared_memory.h"
#include "server/thread_clock.h"

namespace trelu::server {

// Reads the others at each scrape, so they outlive `metrics`' last one. Once, before the first.
void AddGauges(Metrics& metrics, const Corridor& corridor,
               const std::vector<ThreadClock>& queue_clocks, const SharedMemory& shared_memory);

}  // namespace trelu::server

#endif  // TRELU_SERVER_GAUGES_H_
