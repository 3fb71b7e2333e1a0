// float32 to the 16-bit floating-point types, on bits, whatever the processor or compiler offers.
#ifndef TRELU_CORE_NARROW_FLOAT_H_
#define TRELU_CORE_NARROW_FLOAT_H_

#include <cstdint>

namespace trelu {

// The bits of the nearest number, ties to even; subnormals are numbers like others, what is too
// large becomes an infinity, a NaN stays a quiet NaN. (IEEE 754-2019, 4.3.1 and 7.4; ONNX, operator
// Cast.)
std::uint16_t ToFloat16Bits(float value);
std::uint16_t ToBFloat16Bits(float value);

}  // namespace trelu

#endif  // TRELU_CORE_NARROW_FLOAT_H_
