#include "client/command/bench/expected_answer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "client/command/element.h"

namespace trelu::command {
namespace {

// A binary interchange format of IEEE 754, or one built like them.
struct Format {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {5, 10};
    case DType::kBFloat16:
      return {8, 7};
    case DType::kFloat32:
      return {8, 23};
    case DType::kFloat64:
      return {11, 52};
  }
  return {};
}

// To nearest, ties to even, too large to infinity.
double Round(double value, Format format) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  const int last_place = exponent - format.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last_place)), last_place);
  const double largest = std::ldexp(2 - std::ldexp(1.0, -format.mantissa_bits), format.bias());
  if (std::abs(rounded) <= largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), rounded);
}

}  // namespace

std::vector<std::byte> ExpectedAnswer(DType dtype, float alpha, std::span<const std::byte> x) {
  const std::size_t width = ElementBytes(dtype);
  const double threshold = Round(alpha, FormatOf(dtype));
  std::vector<std::byte> y(x.size());
  for (std::size_t i = 0; i + width <= x.size(); i += width) {
    if (threshold < ElementValue(dtype, x.data() + i)) {
      std::memcpy(y.data() + i, x.data() + i, width);
    }
  }
  return y;
}

}  // namespace trelu::command
