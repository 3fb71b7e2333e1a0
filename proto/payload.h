// A message's payload as gRPC received it: slices, never copied into one.
#ifndef TRELU_PROTO_PAYLOAD_H_
#define TRELU_PROTO_PAYLOAD_H_

#include <absl/container/inlined_vector.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <span>

#include "core/segments.h"

namespace trelu {

// Bytes in slices that this object alone refers to, so that they may be computed on in place. That
// holds for what a network transport received (its byte ranges belong to one message each) and for
// memory that was allocated for the payload; never put in slices of an in-process channel. Movable,
// one owner, one thread at a time.
class Payload {
 public:
  Payload() = default;
  Payload(Payload&&) noexcept;
  Payload& operator=(Payload&&) noexcept;
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  // Takes the slice's bytes as they are. Empty slices are dropped.
  void Append(grpc::Slice slice);
  // Takes all of `rest`, which is empty afterwards.
  void Append(Payload&& rest);

  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }
  std::span<const grpc::Slice> slices() const { return {slices_.data(), slices_.size()}; }

  // Cuts off the last `bytes` bytes (at most bytes()) and returns them. No byte is copied but for
  // slices so small that gRPC keeps them inside the slice object.
  Payload SplitTail(std::size_t bytes);

  // The bytes, to be changed. Valid until the object is changed, moved or destroyed: small slices
  // hold their bytes within themselves.
  Segments MutableSegments();

 private:
  absl::InlinedVector<grpc::Slice, 2> slices_;
  std::size_t bytes_ = 0;
};

}  // namespace trelu

#endif  // TRELU_PROTO_PAYLOAD_H_
