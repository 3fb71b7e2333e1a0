// Tensors for the client's tests, and what the operator makes of them.
#ifndef TRELU_TESTS_CLIENT_TENSORS_H_
#define TRELU_TESTS_CLIENT_TENSORS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/thresholded_relu.h"
#include "trelu/tensor_spec.h"

namespace trelu::testing {

using Bytes = std::vector<std::byte>;

// The test fails with the status if the shape is not valid.
inline TensorSpec Spec(DType dtype, const std::vector<std::int64_t>& dims) {
  return TensorSpec::Create(dtype, dims).value();
}

// Every bit pattern is an element, so any bytes are a tensor. The same for the same size.
inline Bytes SomeBytes(std::uint64_t size) {
  Bytes bytes(size);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

inline Bytes Expected(const TensorSpec& spec, float alpha, std::span<const std::byte> x) {
  Bytes y(x.size());
  ThresholdedRelu(spec.dtype(), alpha).Apply(x, y.data());
  return y;
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_CLIENT_TENSORS_H_
