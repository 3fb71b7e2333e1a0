// What a tensor is, apart from its bytes.
#ifndef TRELU_TENSOR_SPEC_H_
#define TRELU_TENSOR_SPEC_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <utility>

#include "trelu/dtype.h"
#include "trelu/shape.h"

namespace trelu {

// The dtype and shape of a tensor whose byte count is known to fit. Immutable in use; any thread.
class TensorSpec {
 public:
  // INVALID_ARGUMENT as Shape::Create gives, or when the byte count overflows an int64.
  static absl::StatusOr<TensorSpec> Create(DType dtype, std::span<const std::int64_t> dims);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // Row-major, without padding.
  std::uint64_t bytes() const { return bytes_; }

  friend bool operator==(const TensorSpec& a, const TensorSpec& b) {
    return a.dtype_ == b.dtype_ && a.shape_ == b.shape_;
  }

 private:
  TensorSpec(DType dtype, Shape shape, std::uint64_t bytes)
      : dtype_(dtype), shape_(std::move(shape)), bytes_(bytes) {}

  DType dtype_;
  Shape shape_;
  std::uint64_t bytes_;
};

}  // namespace trelu

#endif  // TRELU_TENSOR_SPEC_H_
