#include "proto/infer_codec.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "proto/message_slices.h"
#include "proto/wire_reader.h"

namespace trelu {
namespace {

using google::protobuf::io::CodedOutputStream;

// ModelStreamInferResponse.infer_response.
constexpr std::uint32_t kInferResponseField = 2;

template <typename Header>
absl::StatusOr<InferMessage<Header>> Decode(grpc::ByteBuffer& received, const InferType& type) {
  MessageSlices message;
  if (absl::Status status = TakeSlices(received, type.name, message); !status.ok()) return status;
  absl::StatusOr<InferMessage<Header>> result(absl::in_place);
  std::string header;
  if (absl::Status status = SplitInferMessage(message, type, header, result->tensors);
      !status.ok()) {
    return status;
  }
  if (!result->header.MergeFromString(header)) return MalformedMessage(type.name);
  return result;
}

// The tag, of a field below 16, and the length.
std::size_t HeadBytes(std::size_t field_bytes) {
  return 1 + CodedOutputStream::VarintSize64(field_bytes);
}

std::uint8_t* WriteHead(std::uint32_t field, std::size_t field_bytes, std::uint8_t* to) {
  to = CodedOutputStream::WriteTagToArray(WireTag(field, WireType::kBytes), to);
  return CodedOutputStream::WriteVarint64ToArray(field_bytes, to);
}

template <typename Header>
grpc::ByteBuffer Encode(const Header& header, std::span<const Payload> raw, std::uint32_t raw_field,
                        bool wrapped) {
  const std::size_t header_bytes = header.ByteSizeLong();
  std::size_t heads_bytes = 0;
  std::size_t payload_bytes = 0;
  for (const Payload& entry : raw) {
    heads_bytes += HeadBytes(entry.bytes());
    payload_bytes += entry.bytes();
  }
  const std::size_t whole = header_bytes + heads_bytes + payload_bytes;
  const std::size_t wrapper_bytes = wrapped ? HeadBytes(whole) : 0;

  MessageBuilder message(wrapper_bytes + header_bytes + heads_bytes, payload_bytes);
  const std::size_t first_head = raw.empty() ? 0 : HeadBytes(raw[0].bytes());
  std::uint8_t* to = message.Extend(wrapper_bytes + header_bytes + first_head);
  if (wrapped) to = WriteHead(kInferResponseField, whole, to);
  to = header.SerializeWithCachedSizesToArray(to);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i > 0) to = message.Extend(HeadBytes(raw[i].bytes()));
    WriteHead(raw_field, raw[i].bytes(), to);
    message.Append(raw[i]);
  }
  return message.Build();
}

}  // namespace

absl::StatusOr<InferRequest> DecodeModelInferRequest(grpc::ByteBuffer& message) {
  return Decode<inference::ModelInferRequest>(message, kInferRequest);
}

absl::StatusOr<InferResponse> DecodeModelInferResponse(grpc::ByteBuffer& message) {
  return Decode<inference::ModelInferResponse>(message, kInferResponse);
}

grpc::ByteBuffer EncodeModelInferRequest(const inference::ModelInferRequest& header,
                                         std::span<const Payload> raw) {
  return Encode(header, raw, kInferRequest.raw_field, /*wrapped=*/false);
}

grpc::ByteBuffer EncodeModelInferResponse(const inference::ModelInferResponse& header,
                                          std::span<const Payload> raw) {
  return Encode(header, raw, kInferResponse.raw_field, /*wrapped=*/false);
}

grpc::ByteBuffer EncodeModelStreamInferResponse(const inference::ModelInferResponse& header,
                                                std::span<const Payload> raw) {
  return Encode(header, raw, kInferResponse.raw_field, /*wrapped=*/true);
}

}  // namespace trelu
