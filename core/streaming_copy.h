// A copy to memory that is not to be kept in the caches.
#ifndef TRELU_CORE_STREAMING_COPY_H_
#define TRELU_CORE_STREAMING_COPY_H_

#include <cstddef>

namespace trelu {

// An ordinary store first reads the line that it is about to overwrite. Results too large for the
// caches are written past them instead, which saves a third of the traffic; memcpy does the same.
inline constexpr std::size_t kStreamingAlignment = 64;

// Whether this build has such stores; without them StreamingCopy is memcpy.
bool HasStreamingCopy();

// `to` is aligned to kStreamingAlignment and `bytes` is a multiple of it; `from` needs no alignment
// and does not overlap. Another thread may read the bytes after the next StreamingFence of this
// one.
void StreamingCopy(const std::byte* from, std::byte* to, std::size_t bytes);
void StreamingFence();

}  // namespace trelu

#endif  // TRELU_CORE_STREAMING_COPY_H_
