// The usual process_* series: memory, CPU time, descriptors, age.
#ifndef TRELU_SERVER_PROCESS_METRICS_H_
#define TRELU_SERVER_PROCESS_METRICS_H_

#include <prometheus/metric_family.h>

#include <vector>

namespace trelu::server {

// Of this process, now. What cannot be read (no /proc) is left out. Any thread.
std::vector<prometheus::MetricFamily> CollectProcessMetrics();

}  // namespace trelu::server

#endif  // TRELU_SERVER_PROCESS_METRICS_H_
