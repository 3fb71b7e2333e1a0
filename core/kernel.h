// The operator's inner loop, compiled for several instruction sets and chosen when the program
// runs.
#ifndef TRELU_CORE_KERNEL_H_
#define TRELU_CORE_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trelu/dtype.h"

namespace trelu {

// Instruction sets that the kernel is compiled for, narrowest first.
enum class KernelLevel { kBaseline, kX86_64_V3, kX86_64_V4 };

// Those that this processor runs, narrowest first; never empty. The last is the one in use.
std::span<const KernelLevel> SupportedKernelLevels();

// "baseline", "x86-64-v3" or "x86-64-v4".
std::string_view Name(KernelLevel level);

// Reads `bytes` bytes of whole elements at `x` and writes as many at `y`, which is `x` or does not
// overlap it; neither needs any alignment. `alpha_bits`: alpha in the element's type, in the low
// bits.
using Kernel = void (*)(const std::byte* x, std::byte* y, std::size_t bytes,
                        std::uint64_t alpha_bits);

// `level` must be a supported one.
Kernel KernelOf(DType dtype, KernelLevel level);

// Results too large for the caches are better written past them: an ordinary store first reads the
// line that it is about to overwrite. memcpy does the same.
inline constexpr std::size_t kStreamingAlignment = 64;
// A streaming kernel takes multiples of this many bytes.
inline constexpr std::size_t kStreamingGroupBytes = std::size_t{4} * 4096;

// The same with such stores: `y` is aligned to kStreamingAlignment and does not overlap `x`, and
// `bytes` is a multiple of kStreamingGroupBytes. Null where the processor's family has none.
Kernel StreamingKernelOf(DType dtype, KernelLevel level);

}  // namespace trelu

#endif  // TRELU_CORE_KERNEL_H_
