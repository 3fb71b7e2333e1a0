// The messages of the services that carry no payload, to and from bytes.
#ifndef TRELU_SERVER_SMALL_MESSAGE_H_
#define TRELU_SERVER_SMALL_MESSAGE_H_

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <string>

namespace trelu::server {

// None of these messages is longer; a longer one would be parsed into many times its bytes.
inline constexpr std::size_t kMaxSmallMessageBytes = 4096;

// INVALID_ARGUMENT for what protobuf cannot parse, or is too long. Left to gRPC, such a call would
// end with INTERNAL and never reach us, so that neither log nor metrics would know of it.
template <typename Message>
absl::StatusOr<Message> ParseMessage(grpc::ByteBuffer& bytes) {
  Message message;
  if (bytes.Length() > kMaxSmallMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat(Message::descriptor()->name(), " of ",
                                                   bytes.Length(), " bytes: at most ",
                                                   kMaxSmallMessageBytes));
  }
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
    return absl::InvalidArgumentError(absl::StrCat("malformed ", Message::descriptor()->name(),
                                                   ": not a valid protobuf message"));
  }
  return message;
}

template <typename Message>
grpc::ByteBuffer SerializeMessage(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

}  // namespace trelu::server

#endif  // TRELU_SERVER_SMALL_MESSAGE_H_
