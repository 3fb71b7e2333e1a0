#include "core/kernel.h"

#include <array>
#include <cassert>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/above_alpha.h"

// The one place with intrinsics: neither the language nor g++ has another name for a store that
// goes past the caches.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trelu {
namespace {

template <typename AboveAlpha>
TRELU_INLINE void SelectOne(const std::byte* x, std::byte* y, AboveAlpha above) {
  typename AboveAlpha::Bits bits;
  std::memcpy(&bits, x, sizeof(bits));
  bits = above(bits) ? bits : 0;
  std::memcpy(y, &bits, sizeof(bits));
}

// The loop that the compiler vectorises. In place and out of place are told apart for it, so that
// neither needs a check for overlap, whose other side is scalar code.
struct OutOfPlace {
  template <typename AboveAlpha>
  TRELU_INLINE static void Select(const std::byte* __restrict x, std::byte* __restrict y,
                                  std::size_t bytes, AboveAlpha above) {
    for (std::size_t i = 0; i < bytes; i += sizeof(typename AboveAlpha::Bits)) {
      SelectOne(x + i, y + i, above);
    }
  }
};

struct InPlace {
  template <typename AboveAlpha>
  TRELU_INLINE static void Select(const std::byte* /*x*/, std::byte* y, std::size_t bytes,
                                  AboveAlpha above) {
    for (std::size_t i = 0; i < bytes; i += sizeof(typename AboveAlpha::Bits)) {
      SelectOne(y + i, y + i, above);
    }
  }
};

constexpr std::size_t kLineBytes = 64;
// What is this large comes from memory, whatever the processor.
constexpr std::size_t kBeyondCachesBytes = std::size_t{32} << 20;

TRELU_INLINE void Prefetch(const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(from + i);
}

// Pages that take turns, a piece of each at a time: the processor's own prefetching ends at every
// page, and several at once bring more lines under way than one page's order does.
constexpr std::size_t kPageBytes = 4096;
static_assert(kStreamingGroupBytes % kPageBytes == 0);

// Chunks of a fixed size are unrolled. Beyond the first cache the next page is asked for early: the
// processor's own prefetching ends at every page.
template <typename Place, typename AboveAlpha>
TRELU_INLINE void SelectAll(const std::byte* x, std::byte* y, std::size_t bytes, AboveAlpha above) {
  constexpr std::size_t kChunkBytes = 512;
  constexpr std::size_t kAheadBytes = 4096;
  constexpr std::size_t kFirstCacheBytes = std::size_t{32} << 10;
  std::size_t i = 0;
  if (std::is_same_v<Place, InPlace> && bytes >= kBeyondCachesBytes) {
    for (; i + kStreamingGroupBytes <= bytes; i += kStreamingGroupBytes) {
      for (std::size_t chunk = 0; chunk < kPageBytes; chunk += kChunkBytes) {
        for (std::size_t page = 0; page < kStreamingGroupBytes; page += kPageBytes) {
          Place::Select(x, y + i + page + chunk, kChunkBytes, above);
        }
      }
    }
  } else if (bytes > kFirstCacheBytes) {
    for (; i + kAheadBytes + kChunkBytes <= bytes; i += kChunkBytes) {
      Prefetch(y + i + kAheadBytes, kChunkBytes);
      if constexpr (std::is_same_v<Place, OutOfPlace>) Prefetch(x + i + kAheadBytes, kChunkBytes);
      Place::Select(x + i, y + i, kChunkBytes, above);
    }
  }
  for (; i + kChunkBytes <= bytes; i += kChunkBytes) {
    Place::Select(x + i, y + i, kChunkBytes, above);
  }
  Place::Select(x + i, y + i, bytes - i, above);
}

template <typename AboveAlpha>
TRELU_INLINE void SelectAbove(const std::byte* x, std::byte* y, std::size_t bytes,
                              std::uint64_t alpha_bits) {
  const AboveAlpha above(static_cast<typename AboveAlpha::Bits>(alpha_bits));
  if (x == y) {
    SelectAll<InPlace>(x, y, bytes, above);
  } else {
    SelectAll<OutOfPlace>(x, y, bytes, above);
  }
}

// Whether a 16-bit alpha is below zero, and no NaN.
template <std::uint16_t kInfinity>
TRELU_INLINE bool IsNegative(std::uint64_t alpha_bits) {
  return alpha_bits > kMinusZero && alpha_bits <= (kMinusZero | kInfinity);
}

template <std::uint16_t kInfinity>
TRELU_INLINE void SelectAbove16(const std::byte* x, std::byte* y, std::size_t bytes,
                                std::uint64_t alpha_bits) {
  if (IsNegative<kInfinity>(alpha_bits)) {
    SelectAbove<AboveNegative<kInfinity>>(x, y, bytes, alpha_bits);
  } else {
    SelectAbove<AboveNotNegative<kInfinity>>(x, y, bytes, alpha_bits);
  }
}

struct Kernels {
  Kernel float16;
  Kernel bfloat16;
  Kernel float32;
  Kernel float64;
};

// Defines k<suffix>Kernels, whose functions are compiled for the instruction set of `attribute`.
#define TRELU_KERNEL(name, select, attribute)                              \
  attribute void name(const std::byte* x, std::byte* y, std::size_t bytes, \
                      std::uint64_t alpha_bits) {                          \
    select(x, y, bytes, alpha_bits);                                       \
  }
#define TRELU_KERNELS(suffix, attribute)                                                      \
  TRELU_KERNEL(Float16##suffix, SelectAbove16<0x7c00>, attribute)                             \
  TRELU_KERNEL(BFloat16##suffix, SelectAbove16<0x7f80>, attribute)                            \
  TRELU_KERNEL(Float32##suffix, (SelectAbove<Above<float, std::uint32_t>>), attribute)        \
  TRELU_KERNEL(Float64##suffix, (SelectAbove<Above<double, std::uint64_t>>), attribute)       \
  constexpr Kernels k##suffix##Kernels = {Float16##suffix, BFloat16##suffix, Float32##suffix, \
                                          Float64##suffix};

TRELU_KERNELS(Baseline, )
#if defined(__x86_64__)
TRELU_KERNELS(X86_64_V3, __attribute__((target("arch=x86-64-v3"))))
TRELU_KERNELS(X86_64_V4, __attribute__((target("arch=x86-64-v4"))))

// Defines a function of the Kernel type that writes past the caches, four lines of each page in
// turn. `Vector` is the widest of the instruction set, `store` its store.
#define TRELU_STREAMING_KERNEL(name, attribute, Vector, store, ...)                   \
  attribute void name(const std::byte* x, std::byte* y, std::size_t bytes,            \
                      std::uint64_t alpha_bits) {                                     \
    constexpr std::size_t kTurnBytes = 4 * kLineBytes;                                \
    const __VA_ARGS__ above(static_cast<__VA_ARGS__::Bits>(alpha_bits));              \
    for (std::size_t group = 0; group < bytes; group += kStreamingGroupBytes) {       \
      for (std::size_t turn = 0; turn < kPageBytes; turn += kTurnBytes) {             \
        for (std::size_t page = 0; page < kStreamingGroupBytes; page += kPageBytes) { \
          const std::size_t at = group + page + turn;                                 \
          alignas(Vector) std::array<std::byte, kTurnBytes> part;                     \
          OutOfPlace::Select(x + at, part.data(), part.size(), above);                \
          for (std::size_t i = 0; i < kTurnBytes; i += sizeof(Vector)) {              \
            Vector vector;                                                            \
            std::memcpy(&vector, part.data() + i, sizeof(vector));                    \
            store(reinterpret_cast<Vector*>(y + at + i), vector);                     \
          }                                                                           \
        }                                                                             \
      }                                                                               \
    }                                                                                 \
    _mm_sfence();                                                                     \
  }
#define TRELU_STREAMING_KERNELS(suffix, attribute, Vector, store)                  \
  TRELU_STREAMING_KERNEL(StreamFloat16Negative##suffix, attribute, Vector, store,  \
                         AboveNegative<0x7c00>)                                    \
  TRELU_STREAMING_KERNEL(StreamFloat16##suffix, attribute, Vector, store,          \
                         AboveNotNegative<0x7c00>)                                 \
  TRELU_STREAMING_KERNEL(StreamBFloat16Negative##suffix, attribute, Vector, store, \
                         AboveNegative<0x7f80>)                                    \
  TRELU_STREAMING_KERNEL(StreamBFloat16##suffix, attribute, Vector, store,         \
                         AboveNotNegative<0x7f80>)                                 \
  TRELU_STREAMING_KERNEL(StreamFloat32##suffix, attribute, Vector, store,          \
                         Above<float, std::uint32_t>)                              \
  TRELU_STREAMING_KERNEL(StreamFloat64##suffix, attribute, Vector, store,          \
                         Above<double, std::uint64_t>)                             \
  constexpr Kernels kStreaming##suffix##Kernels = {                                \
      ByAlpha<0x7c00, StreamFloat16Negative##suffix, StreamFloat16##suffix>,       \
      ByAlpha<0x7f80, StreamBFloat16Negative##suffix, StreamBFloat16##suffix>,     \
      StreamFloat32##suffix, StreamFloat64##suffix};

template <std::uint16_t kInfinity, Kernel kNegative, Kernel kNotNegative>
void ByAlpha(const std::byte* x, std::byte* y, std::size_t bytes, std::uint64_t alpha_bits) {
  (IsNegative<kInfinity>(alpha_bits) ? kNegative : kNotNegative)(x, y, bytes, alpha_bits);
}

TRELU_STREAMING_KERNELS(Baseline, , __m128i, _mm_stream_si128)
TRELU_STREAMING_KERNELS(X86_64_V3, __attribute__((target("arch=x86-64-v3"))), __m256i,
                        _mm256_stream_si256)
TRELU_STREAMING_KERNELS(X86_64_V4, __attribute__((target("arch=x86-64-v4"))), __m512i,
                        _mm512_stream_si512)

bool SupportsV3() {
#if defined(__clang__)
  // Clang 14 does not know the levels by name here.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
#else
  return __builtin_cpu_supports("x86-64-v3");
#endif
}

bool SupportsV4() {
#if defined(__clang__)
  return SupportsV3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return __builtin_cpu_supports("x86-64-v4");
#endif
}
#endif  // defined(__x86_64__)

const Kernels& KernelsOf([[maybe_unused]] KernelLevel level) {
#if defined(__x86_64__)
  if (level == KernelLevel::kX86_64_V3) return kX86_64_V3Kernels;
  if (level == KernelLevel::kX86_64_V4) return kX86_64_V4Kernels;
#endif
  assert(level == KernelLevel::kBaseline);
  return kBaselineKernels;
}

#if defined(__x86_64__)
const Kernels& StreamingKernelsOf(KernelLevel level) {
  if (level == KernelLevel::kX86_64_V3) return kStreamingX86_64_V3Kernels;
  if (level == KernelLevel::kX86_64_V4) return kStreamingX86_64_V4Kernels;
  return kStreamingBaselineKernels;
}
#endif

Kernel Pick(const Kernels& kernels, DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return kernels.float16;
    case DType::kBFloat16:
      return kernels.bfloat16;
    case DType::kFloat32:
      return kernels.float32;
    case DType::kFloat64:
      return kernels.float64;
  }
  return nullptr;
}

std::vector<KernelLevel> DetectLevels() {
  std::vector<KernelLevel> levels = {KernelLevel::kBaseline};
#if defined(__x86_64__)
  if (SupportsV3()) levels.push_back(KernelLevel::kX86_64_V3);
  if (SupportsV4()) levels.push_back(KernelLevel::kX86_64_V4);
#endif
  return levels;
}

}  // namespace

std::span<const KernelLevel> SupportedKernelLevels() {
  static const std::vector<KernelLevel> levels = DetectLevels();
  return levels;
}

std::string_view Name(KernelLevel level) {
  switch (level) {
    case KernelLevel::kBaseline:
      return "baseline";
    case KernelLevel::kX86_64_V3:
      return "x86-64-v3";
    case KernelLevel::kX86_64_V4:
      return "x86-64-v4";
  }
  return "unknown";
}

Kernel KernelOf(DType dtype, KernelLevel level) { return Pick(KernelsOf(level), dtype); }

Kernel StreamingKernelOf([[maybe_unused]] DType dtype, [[maybe_unused]] KernelLevel level) {
#if defined(__x86_64__)
  return Pick(StreamingKernelsOf(level), dtype);
#else
  return nullptr;
#endif
}

}  // namespace trelu
