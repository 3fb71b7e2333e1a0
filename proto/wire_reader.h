// Protobuf's wire format, read from a received message's slices.
#ifndef TRELU_PROTO_WIRE_READER_H_
#define TRELU_PROTO_WIRE_READER_H_

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "proto/payload.h"

namespace trelu {

// A field's type on the wire, the lower three bits of its tag (protobuf, Encoding, "Message
// Structure"). 6 and 7 mean nothing.
enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

constexpr std::uint32_t WireTag(std::uint32_t field, WireType type) {
  return field << 3 | static_cast<std::uint32_t>(type);
}

constexpr WireType WireTypeOf(std::uint32_t tag) { return static_cast<WireType>(tag & 7); }

// A place in `slices`, which outlive it. It takes and refuses what protobuf's parser does, overlong
// encodings included. A copy is a second, independent place.
class WireReader {
 public:
  explicit WireReader(std::span<const grpc::Slice> slices);

  // In bytes from the beginning.
  std::size_t position() const { return before_ + static_cast<std::size_t>(at_ - slice_begin_); }

  // These read what protobuf reads, and return false at what it refuses; then the position is
  // somewhere behind.
  bool Tag(std::uint32_t& tag);
  bool Length(std::size_t& length);
  bool SkipVarint();

  // The next `bytes` bytes, which must be there: passed over, copied behind `text` or to `to`, or
  // referred to.
  void Skip(std::size_t bytes);
  void CopyBehind(std::string& text, std::size_t bytes);
  void CopyTo(std::uint8_t* to, std::size_t bytes);
  void ReferFrom(Payload& payload, std::size_t bytes);

 private:
  bool Varint(int max_bytes, std::uint64_t& value);
  bool NextSlice();
  // Calls take(first byte, bytes) for every stretch of the next `bytes` bytes.
  template <typename Take>
  void ForEachStretch(std::size_t bytes, Take take);

  std::span<const grpc::Slice> slices_;  // the first is the one being read
  const std::uint8_t* slice_begin_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* slice_end_ = nullptr;
  std::size_t before_ = 0;  // bytes of the slices before it
};

}  // namespace trelu

#endif  // TRELU_PROTO_WIRE_READER_H_
