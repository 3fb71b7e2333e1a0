// A tensor's elements that came in pieces, as one payload.
#ifndef TRELU_PROTO_ELEMENT_PIECES_H_
#define TRELU_PROTO_ELEMENT_PIECES_H_

#include <grpcpp/support/slice.h>

#include <cstddef>

#include "proto/payload.h"
#include "proto/wire_reader.h"

namespace trelu {

// Large pieces are referred to where they lie. Small ones, down to an element each, are copied once
// into blocks: a slice for each would take many times its bytes.
class ElementPieces {
 public:
  // Takes the next `bytes` bytes of `reader`, which must be there. A new block has room
  // for `most_bytes` at most.
  void Take(WireReader& reader, std::size_t bytes, std::size_t most_bytes);

  // All that was taken since the last call, in order.
  Payload Finish();

 private:
  void AppendCopied();

  Payload payload_;
  grpc::Slice block_;
  std::size_t appended_ = 0;  // bytes of block_ that are part of payload_ already
  std::size_t copied_ = 0;    // bytes of block_ that are filled
};

}  // namespace trelu

#endif  // TRELU_PROTO_ELEMENT_PIECES_H_
