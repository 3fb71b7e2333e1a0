// Buffers for payload on its way to the server, used again and again.
#ifndef TRELU_CLIENT_CHUNK_POOL_H_
#define TRELU_CLIENT_CHUNK_POOL_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "proto/payload.h"

namespace trelu {

// Why payload is copied on its way out at all: gRPC holds on to what it sends until the socket has
// taken it, also after the call has ended. Towards a peer that has stopped reading that is long
// after the deadline, and slices that referred to the caller's memory would hold the caller up as
// long. A chunk of the pool can be left behind. Its pages stay, so filling it costs no page fault.
//
// Any thread. Chunks may outlive the pool.
class ChunkPool {
 public:
  // `chunk_bytes`: the size of each; at most `idle_bytes` are kept when nobody uses them.
  ChunkPool(std::size_t chunk_bytes, std::size_t idle_bytes);

  // One payload of `bytes` bytes, in as many chunks as it takes (one allocation when it is small).
  // `fill` is called with each, in order, to write it; its first error is returned.
  absl::StatusOr<Payload> Fill(std::size_t bytes,
                               const std::function<absl::Status(std::span<std::byte>)>& fill);

 private:
  class Shelf;
  struct Chunk;

  static void Release(void* chunk);

  const std::size_t chunk_bytes_;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_CHUNK_POOL_H_
