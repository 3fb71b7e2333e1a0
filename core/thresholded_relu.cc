#include "core/thresholded_relu.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

#include "core/narrow_float.h"
#include "core/streaming_copy.h"

namespace trelu {
namespace {

// Results of this size or more are gone from most caches before anyone reads them.
constexpr std::size_t kStreamFromBytes = std::size_t{32} << 20;

std::uint64_t BitsAs(DType dtype, float alpha) {
  switch (dtype) {
    case DType::kFloat16:
      return ToFloat16Bits(alpha);
    case DType::kBFloat16:
      return ToBFloat16Bits(alpha);
    case DType::kFloat32:
      return std::bit_cast<std::uint32_t>(alpha);
    case DType::kFloat64:
      return std::bit_cast<std::uint64_t>(static_cast<double>(alpha));
  }
  return 0;
}

}  // namespace

ThresholdedRelu::ThresholdedRelu(DType dtype, float alpha)
    : ThresholdedRelu(dtype, alpha, SupportedKernelLevels().back()) {}

ThresholdedRelu::ThresholdedRelu(DType dtype, float alpha, KernelLevel level)
    : dtype_(dtype), alpha_bits_(BitsAs(dtype, alpha)), kernel_(KernelOf(dtype, level)) {}

void ThresholdedRelu::Apply(std::span<const std::byte> x, std::byte* y) const {
  assert(x.size() % ElementBytes(dtype_) == 0);
  if (x.size() >= kStreamFromBytes && y != x.data() && HasStreamingCopy()) {
    ApplyStreaming(x, y);
  } else {
    kernel_(x.data(), y, x.size(), alpha_bits_);
  }
}

// By way of a buffer in the first cache, from which `y` may be aligned anywhere in an element.
void ThresholdedRelu::ApplyStreaming(std::span<const std::byte> x, std::byte* y) const {
  // Four pages take turns: more lines under way at once than one page's order brings.
  constexpr std::size_t kChunkBytes = 512;
  constexpr std::size_t kPageBytes = 4096;
  constexpr std::size_t kGroupBytes = 4 * kPageBytes;
  constexpr std::size_t kAheadBytes = 1024;
  alignas(kStreamingAlignment) std::array<std::byte, kChunkBytes + kStreamingAlignment> results;
  const std::size_t element_bytes = ElementBytes(dtype_);
  const std::size_t head =
      (kStreamingAlignment - reinterpret_cast<std::uintptr_t>(y) % kStreamingAlignment) %
      kStreamingAlignment;
  // `y` may be aligned in the middle of an element only; that element is computed on both sides.
  const std::size_t inside = head % element_bytes;
  const std::size_t computed_bytes = inside == 0 ? kChunkBytes : results.size();
  kernel_(x.data(), y, inside == 0 ? head : head - inside + element_bytes, alpha_bits_);
  std::size_t group = head;
  for (; group + kGroupBytes + kStreamingAlignment <= x.size(); group += kGroupBytes) {
    for (std::size_t turn = 0; turn < kGroupBytes / kChunkBytes; ++turn) {
      const std::size_t at = group + turn % 4 * kPageBytes + turn / 4 * kChunkBytes;
      if (at + kAheadBytes + kChunkBytes <= x.size()) {
        for (std::size_t i = 0; i < kChunkBytes; i += kStreamingAlignment) {
          __builtin_prefetch(x.data() + at + kAheadBytes + i);
        }
      }
      kernel_(x.data() + at - inside, results.data(), computed_bytes, alpha_bits_);
      StreamingCopy(results.data() + inside, y + at, kChunkBytes);
    }
  }
  StreamingFence();
  const std::size_t tail = group - inside;
  kernel_(x.data() + tail, y + tail, x.size() - tail, alpha_bits_);
}

}  // namespace trelu
