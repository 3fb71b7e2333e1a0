// What every call walks through, whatever the service: the server's rooms, and the steps between
// the wire and the kernel.
#ifndef TRELU_SERVER_CORRIDOR_H_
#define TRELU_SERVER_CORRIDOR_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>

#include "core/admission.h"
#include "core/executor.h"
#include "core/worker_pool.h"
#include "server/event_queue.h"
#include "server/live_count.h"
#include "server/metrics.h"
#include "server/options.h"

namespace trelu::server {

// One server's, made at start and alive until the last handler's frame is gone. Handlers hold
// references.
struct Corridor {
  Corridor(const Options& options_in, Executor& workers_in, Metrics& metrics_in)
      : options(options_in),
        workers(workers_in),
        metrics(metrics_in),
        admission(options_in.max_inflight_bytes),
        shared_admission(options_in.max_shared_memory_bytes) {}

  const Options options;  // with the automatic values filled in
  Executor& workers;
  WorkerPool chores{1};
  Metrics& metrics;
  Admission admission;
  // Of the same kind, for clients' own memory: as much is worked on at once as may be registered.
  Admission shared_admission;
  // Set while new calls are refused.
  std::atomic<bool> draining{false};
  // Set when the time of calls in flight is over.
  std::atomic<bool> time_is_up{false};
  // Sent after each of the two.
  Broadcast drain_news;
  // Calls in flight, which a drain waits for; and handlers' frames, those that wait for a call
  // included.
  LiveCount calls;
  LiveCount frames;

  // The first step: UNAVAILABLE while draining.
  absl::Status Open() const;
  // The second: RESOURCE_EXHAUSTED for a message over the limit.
  absl::Status CheckSize(std::uint64_t message_bytes) const;
  // The third: a share of the budget, or UNAVAILABLE.
  absl::StatusOr<Admission::Ticket> Admit(std::uint64_t bytes);
  // And of shared memory, while it is worked on.
  absl::StatusOr<Admission::Ticket> AdmitShared(std::uint64_t bytes);
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_CORRIDOR_H_
