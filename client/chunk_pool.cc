#include "client/chunk_pool.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace trelu {
namespace {

// Below this the allocator has pages at hand.
constexpr std::size_t kPooledBytes = std::size_t{64} << 10;

}  // namespace

struct ChunkPool::Chunk {
  explicit Chunk(std::size_t size) : bytes(new std::byte[size]) {}

  const std::unique_ptr<std::byte[]> bytes;  // NOLINT(modernize-avoid-c-arrays): sized at run time
  std::shared_ptr<Shelf> home;               // while in use
};

// The idle chunks; lives as long as a chunk may come back.
class ChunkPool::Shelf {
 public:
  explicit Shelf(std::size_t most) : most_(most) {}

  std::unique_ptr<Chunk> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Chunk> chunk = std::move(idle_.back());
    idle_.pop_back();
    return chunk;
  }

  void PutBack(std::unique_ptr<Chunk> chunk) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_) idle_.push_back(std::move(chunk));
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Chunk>> idle_;
};

ChunkPool::ChunkPool(std::size_t chunk_bytes, std::size_t idle_bytes)
    : chunk_bytes_(chunk_bytes), shelf_(std::make_shared<Shelf>(idle_bytes / chunk_bytes)) {}

void ChunkPool::Release(void* chunk) {
  std::unique_ptr<Chunk> released(static_cast<Chunk*>(chunk));
  const std::shared_ptr<Shelf> home = std::move(released->home);
  home->PutBack(std::move(released));
}

absl::StatusOr<Payload> ChunkPool::Fill(
    std::size_t bytes, const std::function<absl::Status(std::span<std::byte>)>& fill) {
  Payload payload;
  if (bytes == 0) return payload;
  if (bytes <= kPooledBytes) {
    grpc::Slice slice(bytes);
    // Just allocated, and ours alone.
    absl::Status filled =
        fill({reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(slice.begin())), bytes});
    if (!filled.ok()) return filled;
    payload.Append(std::move(slice));
    return payload;
  }
  while (payload.bytes() < bytes) {
    std::unique_ptr<Chunk> chunk = shelf_->Take();
    if (chunk == nullptr) {
      chunk = std::make_unique<Chunk>(chunk_bytes_);
    }
    chunk->home = shelf_;
    const std::span<std::byte> part(chunk->bytes.get(),
                                    std::min(chunk_bytes_, bytes - payload.bytes()));
    grpc::Slice slice(part.data(), part.size(), &Release, chunk.release());
    absl::Status filled = fill(part);
    if (!filled.ok()) return filled;
    payload.Append(std::move(slice));
  }
  return payload;
}

}  // namespace trelu
