#include "core/narrow_float.h"

#include <bit>

namespace trelu {
namespace {

constexpr std::uint32_t kSignBit = 0x8000'0000;
constexpr std::uint32_t kInfinity = 0x7f80'0000;
constexpr int kMantissaBits = 23;

// value / 2^shift to nearest, ties to even; 1 <= shift <= 24.
constexpr std::uint32_t RoundedShift(std::uint32_t value, int shift) {
  const std::uint32_t below_half = (std::uint32_t{1} << (shift - 1)) - 1;
  const std::uint32_t odd = (value >> shift) & 1;
  return (value + below_half + odd) >> shift;
}

// `magnitude`: the bits of a number that is not NaN, without its sign.
constexpr std::uint32_t Float16Magnitude(std::uint32_t magnitude) {
  constexpr std::uint32_t kFirstTooLarge =
      0x477f'f000;  // 65520, halfway to the number after the last
  constexpr std::uint32_t kSmallestNormal = 0x3880'0000;  // 2^-14
  constexpr std::uint32_t kBiasChange = std::uint32_t{127 - 15} << kMantissaBits;
  constexpr int kMantissaBitsLost = 13;
  if (magnitude >= kFirstTooLarge) return 0x7c00;
  if (magnitude >= kSmallestNormal) return RoundedShift(magnitude - kBiasChange, kMantissaBitsLost);
  // Subnormal: the significand, in units of 2^-24. A shift above 24 leaves less than half a unit.
  const auto exponent = static_cast<int>(magnitude >> kMantissaBits);
  const int shift = 126 - exponent;
  if (shift > 24) return 0;
  const std::uint32_t one = std::uint32_t{1} << kMantissaBits;
  return RoundedShift((magnitude & (one - 1)) | one, shift);
}

}  // namespace

std::uint16_t ToFloat16Bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & ~kSignBit;
  const std::uint32_t sign = (bits & kSignBit) >> 16;
  return static_cast<std::uint16_t>(sign |
                                    (magnitude > kInfinity ? 0x7e00 : Float16Magnitude(magnitude)));
}

std::uint16_t ToBFloat16Bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & ~kSignBit;
  const std::uint32_t sign = (bits & kSignBit) >> 16;
  return static_cast<std::uint16_t>(sign |
                                    (magnitude > kInfinity ? 0x7fc0 : RoundedShift(magnitude, 16)));
}

}  // namespace trelu
