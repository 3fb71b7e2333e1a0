#include "core/thresholded_relu.h"

#include <bit>
#include <cassert>
#include <cstdint>

#include "core/narrow_float.h"

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
    : dtype_(dtype),
      alpha_bits_(BitsAs(dtype, alpha)),
      kernel_(KernelOf(dtype, level)),
      streaming_kernel_(StreamingKernelOf(dtype, level)) {}

void ThresholdedRelu::Apply(std::span<const std::byte> x, std::byte* y) const {
  assert(x.size() % ElementBytes(dtype_) == 0);
  const std::size_t head =
      (kStreamingAlignment - reinterpret_cast<std::uintptr_t>(y) % kStreamingAlignment) %
      kStreamingAlignment;
  // `y` may be aligned in the middle of an element only.
  const bool streams = streaming_kernel_ != nullptr && x.size() >= kStreamFromBytes &&
                       y != x.data() && head % ElementBytes(dtype_) == 0;
  std::size_t done = 0;
  if (streams) {
    const std::size_t groups = (x.size() - head) / kStreamingGroupBytes * kStreamingGroupBytes;
    kernel_(x.data(), y, head, alpha_bits_);
    streaming_kernel_(x.data() + head, y + head, groups, alpha_bits_);
    done = head + groups;
  }
  kernel_(x.data() + done, y + done, x.size() - done, alpha_bits_);
}

}  // namespace trelu
