// A message as gRPC's slices: taken from what was received, and put together to be sent.
#ifndef TRELU_PROTO_MESSAGE_SLICES_H_
#define TRELU_PROTO_MESSAGE_SLICES_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>

#include "proto/payload.h"

namespace trelu {

// protobuf's own limit, in every language.
inline constexpr std::size_t kMaxMessageBytes = 0x7fffffff;
// protobuf refuses longer fields (EpsCopyInputStream::ReadSize).
inline constexpr std::size_t kMaxFieldBytes = kMaxMessageBytes - 16;

struct MessageSlices {
  absl::InlinedVector<grpc::Slice, 2> slices;
  std::size_t bytes = 0;  // of all of them
};

// Moves what `received` refers to into `message`. INVALID_ARGUMENT above kMaxMessageBytes; `name`,
// the message's type, begins the text.
absl::Status TakeSlices(grpc::ByteBuffer& received, absl::string_view name, MessageSlices& message);

// INVALID_ARGUMENT: what came as a `name` is no valid message.
absl::Status MalformedMessage(absl::string_view name);

// Builds a message of parts written here and payloads that are referred to. A message with little
// payload becomes one slice with a copy of everything, which costs less than a second slice.
class MessageBuilder {
 public:
  // The sizes of all that is to come: exactly as many bytes have to be given to the calls below.
  MessageBuilder(std::size_t bytes_beside_payload, std::size_t payload_bytes);
  MessageBuilder(const MessageBuilder&) = delete;
  MessageBuilder& operator=(const MessageBuilder&) = delete;

  // The message's next `bytes` bytes, to be written before the next call.
  std::uint8_t* Extend(std::size_t bytes);
  void Append(const Payload& payload);
  grpc::ByteBuffer Build();

 private:
  absl::InlinedVector<grpc::Slice, 8> slices_;
  std::uint8_t* in_one_slice_ = nullptr;  // where it goes on; null: each part has its own
};

}  // namespace trelu

#endif  // TRELU_PROTO_MESSAGE_SLICES_H_
