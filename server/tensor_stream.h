// The messages of one ApplyStream call, put together into tensors: what may follow what, and which
// bytes are whole elements by now.
#ifndef TRELU_SERVER_TENSOR_STREAM_H_
#define TRELU_SERVER_TENSOR_STREAM_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>

#include "proto/apply_codec.h"
#include "server/tensor_request.h"

namespace trelu::server {

// Knows nothing of calls and queues; one thread at a time. After an error the stream is over. Every
// error about a tensor begins with its index: "tensor 2: ...".
class TensorStream {
 public:
  // Whole elements of the current tensor, to be computed in place and handed to EncodeResult.
  // INVALID_ARGUMENT: a stream that does not begin with `tensor`, a tensor begun before the last
  // one had all its bytes, alpha without `tensor`, more bytes than the tensor has, or a wrong
  // tensor.
  absl::StatusOr<Payload> Take(ApplyMessage message);

  // The operator of the current tensor, valid until the next Take.
  const ThresholdedRelu& op() const { return tensor_->op; }

  // The response for what Take returned, computed by now; nothing when there is nothing to say yet
  // (a message that completed no element).
  std::optional<grpc::ByteBuffer> EncodeResult(Payload computed);

  // Whether all bytes of the current tensor have come; not before the first.
  bool complete() const { return tensor_ && received_ == tensor_->spec.bytes(); }

  // At the end of the input: INVALID_ARGUMENT without any message, or inside a tensor.
  absl::Status Finish() const;

 private:
  absl::Status Error(const absl::Status& status) const;
  absl::Status Begin(const ApplyMessage& message);

  std::optional<TensorRequest> tensor_;
  std::int64_t index_ = -1;
  std::uint64_t received_ = 0;
  // The bytes of an element that arrived without its end.
  Payload partial_element_;
  bool result_begun_ = false;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_TENSOR_STREAM_H_
