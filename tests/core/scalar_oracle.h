// The operator once more, slowly and by other means: numbers are decoded to float64 and compared
// there.
#ifndef TRELU_TESTS_CORE_SCALAR_ORACLE_H_
#define TRELU_TESTS_CORE_SCALAR_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trelu/dtype.h"

namespace trelu::testing {

// The number that the element's bits stand for; exact for all types.
double Decode(DType dtype, std::uint64_t bits);

// alpha cast to a 16-bit type: the nearest of all its numbers, found by search. Not for NaN.
std::uint16_t NearestBits(DType dtype, float alpha);

// The right result for the elements in `x`.
std::vector<std::byte> Expected(DType dtype, float alpha, std::span<const std::byte> x);

// `bytes` bytes that begin with interesting numbers of the type around `alpha` (both zeros,
// subnormals, infinities, NaNs, alpha's neighbours) and go on with random bits, among them again
// such numbers.
std::vector<std::byte> InterestingInput(DType dtype, float alpha, std::size_t bytes, unsigned seed);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_CORE_SCALAR_ORACLE_H_
