// What the Open Inference protocol tells of a model's requests: how many, and where their time
// went.
#ifndef TRELU_SERVER_MODELS_MODEL_STATISTICS_H_
#define TRELU_SERVER_MODELS_MODEL_STATISTICS_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "server/sharded_counters.h"

namespace trelu::server {

// Where one request's time went; a negative duration counts as none.
struct InferDurations {
  std::chrono::nanoseconds total{0};           // from arrival to the end of the answer
  std::chrono::nanoseconds queue{0};           // waiting for a worker
  std::chrono::nanoseconds compute_input{0};   // reading the request
  std::chrono::nanoseconds compute_infer{0};   // computing
  std::chrono::nanoseconds compute_output{0};  // building the answer
};

// The numbers of a model version so far, named as the protocol names them (Triton's
// grpc_service.proto, messages ModelStatistics, InferStatistics and StatisticDuration).
struct ModelStatisticsReading {
  struct Duration {
    std::uint64_t count = 0;
    std::uint64_t ns = 0;
  };
  Duration success;
  Duration fail;
  // Of the requests that succeeded.
  Duration queue;
  Duration compute_input;
  Duration compute_infer;
  Duration compute_output;
  std::uint64_t inference_count = 0;
  std::uint64_t execution_count = 0;
  std::uint64_t last_inference_ms = 0;  // since the epoch; 0: never
};

// Any thread; Record takes no lock.
class ModelStatistics {
 public:
  // One finished request. One that failed counts under `fail` alone, with its total.
  void Record(const InferDurations& durations, bool success,
              std::chrono::system_clock::time_point finished = std::chrono::system_clock::now());

  // Sees every request whose Record happened before, and possibly part of later ones.
  ModelStatisticsReading Read() const;

 private:
  // Each request that succeeded is one inference and one execution, and has one of each duration,
  // so that one count stands for all.
  enum Counter : std::size_t {
    kSuccess,
    kSuccessNs,
    kFail,
    kFailNs,
    kQueueNs,
    kComputeInputNs,
    kComputeInferNs,
    kComputeOutputNs,
    kCounters
  };
  ShardedCounters<kCounters> counters_;
  std::atomic<std::uint64_t> last_inference_ms_{0};
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_MODEL_STATISTICS_H_
