// The usual process_* series: memory, CPU time, descriptors, age.
#ifndef TRELU_SERVER_PROCESS_METRICS_H_
#define TRELU_SERVER_PROCESS_METRICS_H_

#include <prometheus/metric_family.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace trelu::server {

// Of this process, now. What cannot be read (no /proc) is left out. Any thread.
std::vector<prometheus::MetricFamily> CollectProcessMetrics();

// Memory of this process that is in the machine's, now. Any thread.
std::optional<std::uint64_t> ResidentBytes();

}  // namespace trelu::server

#endif  // TRELU_SERVER_PROCESS_METRICS_H_
