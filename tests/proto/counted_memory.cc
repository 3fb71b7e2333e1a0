#include "tests/proto/counted_memory.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live;   // bytes
std::atomic<std::size_t> peak;   // bytes
std::atomic<std::size_t> count;  // allocations

}  // namespace

void* operator new(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  ++count;
  const std::size_t now = live += malloc_usable_size(block);
  if (now > peak) peak = now;
  return block;
}
void operator delete(void* block) noexcept {
  if (block != nullptr) live -= malloc_usable_size(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

namespace trelu::testing {

CountedMemory::CountedMemory() : allocations_before_(count), bytes_before_(live) {
  peak = bytes_before_;
}
std::size_t CountedMemory::allocations() const { return count - allocations_before_; }
std::size_t CountedMemory::peak_bytes() const { return peak - bytes_before_; }

}  // namespace trelu::testing
