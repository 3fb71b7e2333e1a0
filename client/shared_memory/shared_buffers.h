// The buffers that callers were given, and which memory is theirs.
#ifndef TRELU_CLIENT_SHARED_MEMORY_SHARED_BUFFERS_H_
#define TRELU_CLIENT_SHARED_MEMORY_SHARED_BUFFERS_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "client/shared_memory/shared_region.h"
#include "trelu/client.h"

namespace trelu {

// Any thread. Buffers keep it alive.
class SharedBuffers : public std::enable_shared_from_this<SharedBuffers> {
 public:
  // The first `bytes` of a registered region.
  std::unique_ptr<SharedBuffer> Wrap(std::shared_ptr<SharedRegion> region, std::size_t bytes);

  // Where `bytes` are for the server; nothing unless all of them are in one buffer that it knows.
  std::optional<SharedPlace> Find(std::span<const std::byte> bytes) const;

  // The server knows none of them any more.
  void Forget();

 private:
  class Buffer;

  mutable std::mutex mutex_;
  std::map<const std::byte*, std::shared_ptr<SharedRegion>> regions_;  // by where they begin
};

// A buffer of memory like any other. RESOURCE_EXHAUSTED: there is none.
absl::StatusOr<std::unique_ptr<SharedBuffer>> NewPlainBuffer(std::size_t bytes);

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_SHARED_BUFFERS_H_
