#include "tests/core/scalar_oracle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

namespace trelu::testing {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
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

std::uint64_t LoadBits(const std::byte* from, std::size_t element_bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, element_bytes);
  return bits;
}

// The positive numbers of a 16-bit type in order, the bits of each being its index; the last is
// infinity, as the number that would follow the largest.
std::vector<double> PositiveNumbers(DType dtype) {
  const Format format = FormatOf(dtype);
  const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1)
                                 << format.mantissa_bits;
  std::vector<double> numbers;
  for (std::uint64_t bits = 0; bits < infinity; ++bits) numbers.push_back(Decode(dtype, bits));
  numbers.push_back(std::ldexp(1.0, 1 << (format.exponent_bits - 1)));
  return numbers;
}

}  // namespace

double Decode(DType dtype, std::uint64_t bits) {
  const Format format = FormatOf(dtype);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const int all_ones = (1 << format.exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> format.mantissa_bits) & all_ones;
  const int bias = all_ones / 2;
  double magnitude = 0;
  if (exponent == all_ones) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<double>(mantissa), 1 - bias - format.mantissa_bits);
  } else {
    const std::uint64_t one = std::uint64_t{1} << format.mantissa_bits;
    magnitude =
        std::ldexp(static_cast<double>(mantissa | one), exponent - bias - format.mantissa_bits);
  }
  const bool negative = ((bits >> (format.exponent_bits + format.mantissa_bits)) & 1) != 0;
  return negative ? -magnitude : magnitude;
}

std::uint16_t NearestBits(DType dtype, float alpha) {
  static const std::vector<double> float16 = PositiveNumbers(DType::kFloat16);
  static const std::vector<double> bfloat16 = PositiveNumbers(DType::kBFloat16);
  const std::vector<double>& numbers = dtype == DType::kFloat16 ? float16 : bfloat16;
  const double magnitude = std::fabs(static_cast<double>(alpha));
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), magnitude);
  auto index = static_cast<std::size_t>(above - numbers.begin());
  if (above == numbers.end()) {
    index = numbers.size() - 1;
  } else {
    const double to_above = *above - magnitude;
    const double to_below = magnitude - numbers[index - 1];
    if (to_below < to_above || (to_below == to_above && (index - 1) % 2 == 0)) --index;
  }
  return static_cast<std::uint16_t>(index | (std::signbit(alpha) ? 0x8000U : 0U));
}

std::vector<std::byte> Expected(DType dtype, float alpha, std::span<const std::byte> x) {
  const std::size_t element_bytes = ElementBytes(dtype);
  double cast_alpha = alpha;
  if (element_bytes == 2 && !std::isnan(alpha)) {
    cast_alpha = Decode(dtype, NearestBits(dtype, alpha));
  }
  std::vector<std::byte> y(x.size());
  for (std::size_t i = 0; i < x.size(); i += element_bytes) {
    if (cast_alpha < Decode(dtype, LoadBits(x.data() + i, element_bytes))) {
      std::memcpy(y.data() + i, x.data() + i, element_bytes);
    }
  }
  return y;
}

std::vector<std::byte> InterestingInput(DType dtype, float alpha, std::size_t bytes,
                                        unsigned seed) {
  const std::size_t element_bytes = ElementBytes(dtype);
  const Format format = FormatOf(dtype);
  const std::uint64_t sign = std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const std::uint64_t one = std::uint64_t{1} << format.mantissa_bits;
  const std::uint64_t infinity = sign - one;
  std::uint64_t alpha_bits = std::bit_cast<std::uint32_t>(alpha);
  if (dtype == DType::kFloat64) alpha_bits = std::bit_cast<std::uint64_t>(double{alpha});
  if (element_bytes == 2) alpha_bits = NearestBits(dtype, std::isnan(alpha) ? 1.0F : alpha);
  std::vector<std::uint64_t> interesting;
  for (const std::uint64_t magnitude :
       {std::uint64_t{0}, std::uint64_t{1}, one - 1, one, infinity - 1, infinity, infinity + 1,
        infinity + one / 2, sign - 1, alpha_bits & (sign - 1), (alpha_bits - 1) & (sign - 1),
        (alpha_bits + 1) & (sign - 1)}) {
    interesting.push_back(magnitude);
    interesting.push_back(magnitude | sign);
  }
  std::mt19937_64 random(seed);
  std::vector<std::byte> input(bytes);
  for (std::size_t i = 0; i < bytes; i += element_bytes) {
    const std::size_t index = i / element_bytes;
    std::uint64_t bits = random();
    if (index < interesting.size()) {
      bits = interesting[index];
    } else if (bits % 3 == 0) {
      bits = interesting[(bits / 3) % interesting.size()];
    }
    std::memcpy(input.data() + i, &bits, std::min(element_bytes, bytes - i));
  }
  return input;
}

}  // namespace trelu::testing
