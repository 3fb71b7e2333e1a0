#include "server/models/model_statistics.h"

#include <algorithm>

namespace trelu::server {
namespace {

std::uint64_t Count(std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
}

}  // namespace

void ModelStatistics::Record(const InferDurations& durations, bool success,
                             std::chrono::system_clock::time_point finished) {
  if (!success) {
    counters_.Add(kFail);
    counters_.Add(kFailNs, Count(durations.total));
    return;
  }
  counters_.Add(kSuccess);
  counters_.Add(kSuccessNs, Count(durations.total));
  counters_.Add(kQueueNs, Count(durations.queue));
  counters_.Add(kComputeInputNs, Count(durations.compute_input));
  counters_.Add(kComputeInferNs, Count(durations.compute_infer));
  counters_.Add(kComputeOutputNs, Count(durations.compute_output));
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(finished.time_since_epoch());
  const std::uint64_t ms = Count(since_epoch) / 1'000'000;
  // Written once a millisecond at most, so that threads hardly ever meet here.
  std::uint64_t last = last_inference_ms_.load(std::memory_order_relaxed);
  while (last < ms &&
         !last_inference_ms_.compare_exchange_weak(last, ms, std::memory_order_relaxed)) {
  }
}

ModelStatisticsReading ModelStatistics::Read() const {
  const std::uint64_t success = counters_.Sum(kSuccess);
  return {
      .success = {success, counters_.Sum(kSuccessNs)},
      .fail = {counters_.Sum(kFail), counters_.Sum(kFailNs)},
      .queue = {success, counters_.Sum(kQueueNs)},
      .compute_input = {success, counters_.Sum(kComputeInputNs)},
      .compute_infer = {success, counters_.Sum(kComputeInferNs)},
      .compute_output = {success, counters_.Sum(kComputeOutputNs)},
      .inference_count = success,
      .execution_count = success,
      .last_inference_ms = last_inference_ms_.load(std::memory_order_relaxed),
  };
}

}  // namespace trelu::server
