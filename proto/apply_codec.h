// ApplyRequest and ApplyResponse (trelu/v1/trelu.proto) to and from gRPC's slices, without copying
// the payload.
//
// The common encoding - known fields once each, in order, `data` last - is read by hand from the
// message's first bytes. Anything else that protobuf accepts (unknown fields, another order, a
// field twice, overlong varints) is parsed by protobuf itself, so the answer is always protobuf's.
#ifndef TRELU_PROTO_APPLY_CODEC_H_
#define TRELU_PROTO_APPLY_CODEC_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>
#include <span>

#include "proto/payload.h"
#include "trelu/tensor_spec.h"

namespace trelu {

// A message's `tensor` field as it came: nothing is checked yet.
struct WireTensor {
  std::int32_t dtype = 0;
  absl::InlinedVector<std::int64_t, 8> shape;
};

// The fields of one message as they came. ApplyResponse has no alpha.
struct ApplyMessage {
  std::optional<WireTensor> tensor;
  std::optional<float> alpha;
  Payload data;
};

// `message` is emptied. INVALID_ARGUMENT when protobuf would not parse it, or when it has more than
// 2 MiB of anything but data. Allocates less than 64 MiB beyond twice the bytes that came, nothing
// in the common encoding.
absl::StatusOr<ApplyMessage> DecodeApplyRequest(grpc::ByteBuffer& message);
absl::StatusOr<ApplyMessage> DecodeApplyResponse(grpc::ByteBuffer& message);

// `tensor` null: leave the field out. The result refers to the payload's slices; it is what
// protobuf would have written, byte for byte. Messages of 2 GiB and more can be written, but not
// read by any protobuf.
grpc::ByteBuffer EncodeApplyRequest(const TensorSpec* tensor, std::optional<float> alpha,
                                    Payload data);
grpc::ByteBuffer EncodeApplyResponse(const TensorSpec* tensor, Payload data);

}  // namespace trelu

#endif  // TRELU_PROTO_APPLY_CODEC_H_
