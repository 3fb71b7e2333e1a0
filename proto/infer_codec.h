// ModelInferRequest and ModelInferResponse (inference/open_inference.proto) to and from gRPC's
// slices, without copying the tensors' elements.
//
// Protobuf parses and writes everything but the elements, so any encoding that it accepts is
// understood as it understands it.
#ifndef TRELU_PROTO_INFER_CODEC_H_
#define TRELU_PROTO_INFER_CODEC_H_

#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>

#include <span>

#include "inference/open_inference.pb.h"
#include "proto/infer_split.h"
#include "proto/payload.h"

namespace trelu {

template <typename Header>
struct InferMessage {
  // Without raw contents, and without the elements of `contents.fp32_contents` and `fp64_contents`:
  // a tensor that had those still has `contents`.
  Header header;
  InferTensors tensors;
};
using InferRequest = InferMessage<inference::ModelInferRequest>;
using InferResponse = InferMessage<inference::ModelInferResponse>;

// `message` is emptied. Elements are referred to where they were received; only typed ones in
// pieces below 256 bytes are copied, once. INVALID_ARGUMENT when protobuf would not parse the
// message, when it has more than kMaxInferHeaderBytes besides elements, and with more than
// kMaxInferTensors tensors or raw entries, or kMaxElementRuns runs of elements. Allocates less than
// 8 MiB beyond twice the bytes that came.
absl::StatusOr<InferRequest> DecodeModelInferRequest(grpc::ByteBuffer& message);
absl::StatusOr<InferResponse> DecodeModelInferResponse(grpc::ByteBuffer& message);

// `raw` become the entries of raw_input_contents or raw_output_contents, which `header` must leave
// empty. The result refers to their slices; it is what protobuf would have written, byte for byte.
// Messages of 2 GiB and more can be written, but not read by any protobuf.
grpc::ByteBuffer EncodeModelInferRequest(const inference::ModelInferRequest& header,
                                         std::span<const Payload> raw);
grpc::ByteBuffer EncodeModelInferResponse(const inference::ModelInferResponse& header,
                                          std::span<const Payload> raw);
// As `infer_response` of a ModelStreamInferResponse without error_message.
grpc::ByteBuffer EncodeModelStreamInferResponse(const inference::ModelInferResponse& header,
                                                std::span<const Payload> raw);

}  // namespace trelu

#endif  // TRELU_PROTO_INFER_CODEC_H_
