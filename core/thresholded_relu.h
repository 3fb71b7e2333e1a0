// The operator: ONNX ThresholdedRelu (ai.onnx, versions 10 and 22) on bytes in memory.
#ifndef TRELU_CORE_THRESHOLDED_RELU_H_
#define TRELU_CORE_THRESHOLDED_RELU_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/kernel.h"
#include "trelu/dtype.h"

namespace trelu {

// Where none is given (ONNX, operator ThresholdedRelu, attribute alpha).
inline constexpr float kDefaultAlpha = 1.0F;

// y[i] = cast(alpha, T) < x[i] ? x[i] : +0, an ordered IEEE comparison in T; x passes bit for bit,
// so NaN gives +0 and -0 above a negative alpha stays -0. alpha is cast to nearest, ties to even,
// with overflow to infinity. (ONNX, operator ThresholdedRelu, its function body.)
//
// A value: dtype, alpha and kernel chosen once. Any number of threads may use one at the same time.
class ThresholdedRelu {
 public:
  ThresholdedRelu(DType dtype, float alpha);
  // `level` must be a supported one.
  ThresholdedRelu(DType dtype, float alpha, KernelLevel level);

  DType dtype() const { return dtype_; }

  // Reads `x` and writes as many bytes at `y`. x.size() is a multiple of ElementBytes(dtype());
  // neither needs any alignment; `y` is x.data() or does not overlap `x`.
  void Apply(std::span<const std::byte> x, std::byte* y) const;

 private:
  DType dtype_;
  std::uint64_t alpha_bits_;  // alpha cast to dtype_, in the low bits
  Kernel kernel_;
  Kernel streaming_kernel_;
};

}  // namespace trelu

#endif  // TRELU_CORE_THRESHOLDED_RELU_H_
