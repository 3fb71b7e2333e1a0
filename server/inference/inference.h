// One request of the Open Inference face on its way through the corridor.
#ifndef TRELU_SERVER_INFERENCE_INFERENCE_H_
#define TRELU_SERVER_INFERENCE_INFERENCE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/computation.h"
#include "proto/infer_codec.h"
#include "server/compute.h"
#include "server/corridor.h"
#include "server/inference/infer_parameters.h"
#include "server/models/model_catalog.h"
#include "server/shared_memory/shared_memory.h"
#include "trelu/tensor_spec.h"

namespace trelu::server {

// Taken, computed and answered, in this order, once. Its elements lie in the message or in shared
// memory, and so does room for the result; an in-place alias is the same range named twice. On its
// queue's thread.
class Inference {
 public:
  Inference(const ModelCatalog& models, const SharedMemory& shared_memory,
            std::uint64_t max_message_bytes)
      : models_(models), shared_memory_(shared_memory), max_message_bytes_(max_message_bytes) {}
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  // Decodes and validates a ModelInferRequest, and finds its model and its memory. Nothing is
  // allocated by what it declares. NOT_FOUND: the model, its version or a region; UNAVAILABLE: the
  // model is not ready; INVALID_ARGUMENT, naming the field, for everything else that is wrong with
  // it; RESOURCE_EXHAUSTED: the answer would be over the limit of a message.
  absl::Status Take(grpc::ByteBuffer& message, std::chrono::system_clock::time_point call_deadline);

  // What the caller calls the request, as far as Take came.
  const std::string& id() const { return id_; }

  // From here on after an OK from Take.
  // Payload that came in the message.
  std::uint64_t message_payload_bytes() const { return data_.bytes(); }
  // Memory for a result that is not computed in place.
  std::uint64_t fresh_bytes() const;
  // Of regions, worked on where they are.
  std::uint64_t shared_bytes() const;
  // The call's, or the request's own `timeout`, whichever comes first.
  std::chrono::system_clock::time_point deadline() const { return deadline_; }

  // Once: allocates fresh_bytes() and names the work, which refers to this object.
  Work TakeWork();

  // What the caller is told of computed work: FAILED_PRECONDITION when a region shrank meanwhile.
  absl::Status Check(const absl::Status& computed) const;

  // After Check was OK, before EncodeResponse: payload that goes out in the message.
  std::uint64_t response_payload_bytes() const { return output_ ? 0 : data_.bytes(); }

  // Once, after Check was OK: the answer, whose elements are those computed.
  enum class Within { kUnary, kStream };
  grpc::ByteBuffer EncodeResponse(Within within);

  // Also without an OK from Take: the in-band answer of a stream to a request that failed.
  grpc::ByteBuffer EncodeError(const absl::Status& status) const;

  // Counts the request among the model's, if it had one. `compute` is null when nothing was
  // computed.
  void Record(const absl::Status& status, const Compute* compute);

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status Read(InferRequest message);
  absl::Status ReadInput(InferRequest& message, float alpha);
  absl::Status ReadOutput(const inference::ModelInferRequest& header);
  // The same bytes of shared memory are input and output.
  bool in_place() const;
  // The name of one that shrank; null when all are as they were.
  const std::string* LostRegion() const;
  absl::StatusOr<SharedRange> FindRange(std::string_view tensor, const Placement& placement) const;

  const ModelCatalog& models_;
  const SharedMemory& shared_memory_;
  const std::uint64_t max_message_bytes_;
  const Clock::time_point arrived_ = Clock::now();
  Clock::time_point taken_ = arrived_;
  Clock::duration encoding_{};
  std::chrono::system_clock::time_point deadline_;
  std::string id_;
  std::shared_ptr<const Model> model_;
  std::optional<TensorSpec> spec_;
  std::optional<ThresholdedRelu> op_;
  // Elements that came in the message; then, unless they go to shared memory, those of the answer.
  Payload data_;
  // With the regions' names.
  struct Placed {
    std::string region;
    SharedRange range;
  };
  std::optional<Placed> input_;
  std::optional<Placed> output_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_INFERENCE_H_
