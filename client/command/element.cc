#include "client/command/element.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace trelu::command {
namespace {

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double BFloat16Value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

double Float16Value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, -24);
  } else {
    magnitude = std::ldexp(mantissa + 0x400, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename... Format>
std::string Digits(Format... format) {
  std::array<char, 64> text{};
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), format...);
  return {text.data(), end.ptr};
}

// For types without a conversion of their own: the first of ever longer decimals that is nearer to
// the value than half of the way to its neighbours.
std::string Shortest16(DType dtype, std::uint16_t bits, double value) {
  const auto neighbour = [dtype](int other) {
    const auto other_bits = static_cast<std::uint16_t>(other);
    return dtype == DType::kFloat16 ? Float16Value(other_bits) : BFloat16Value(other_bits);
  };
  const double above = neighbour(bits + 1);  // in magnitude
  const double below = neighbour(bits - 1);
  double room = std::abs(value - below) / 2;
  if (std::isfinite(above)) room = std::min(room, std::abs(above - value) / 2);
  constexpr int kAlwaysEnough = 5;
  for (int digits = 1;; ++digits) {
    const std::string text = Digits(value, std::chars_format::scientific, digits - 1);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (digits == kAlwaysEnough || std::abs(read - value) < room) return Digits(read);
  }
}

}  // namespace

double ElementValue(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return Float16Value(Load<std::uint16_t>(element));
    case DType::kBFloat16:
      return BFloat16Value(Load<std::uint16_t>(element));
    case DType::kFloat32:
      return static_cast<double>(Load<float>(element));
    case DType::kFloat64:
      return Load<double>(element);
  }
  return 0;
}

std::string ElementText(DType dtype, const std::byte* element) {
  const double value = ElementValue(dtype, element);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return Shortest16(dtype, Load<std::uint16_t>(element), value);
    case DType::kFloat32:
      return Digits(Load<float>(element));
    case DType::kFloat64:
      return Digits(value);
  }
  return "";
}

}  // namespace trelu::command
