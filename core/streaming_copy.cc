#include "core/streaming_copy.h"

#include <cstring>

// The one place with intrinsics: neither the language nor g++ has another name for this store.
// SSE2, which every x86-64 processor has, is wide enough; the processor joins the parts of a line.
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace trelu {

#if defined(__x86_64__)

bool HasStreamingCopy() { return true; }

void StreamingCopy(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(__m128i)) {
    __m128i part;
    std::memcpy(&part, from + i, sizeof(part));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
  }
}

void StreamingFence() { _mm_sfence(); }

#else

bool HasStreamingCopy() { return false; }

void StreamingCopy(const std::byte* from, std::byte* to, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void StreamingFence() {}

#endif

}  // namespace trelu
