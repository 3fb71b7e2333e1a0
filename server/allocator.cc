#include "server/allocator.h"

#include <malloc.h>

#include <algorithm>

namespace trelu::server {

void TuneAllocator(int processors) {
  constexpr int kKeptBytes = 32 << 20;
  constexpr int kOwnMappingBytes = 32 << 20;
  // NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs yet
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kOwnMappingBytes);
  mallopt(M_ARENA_MAX, std::max(2, processors));
  // NOLINTEND(concurrency-mt-unsafe)
}

}  // namespace trelu::server
