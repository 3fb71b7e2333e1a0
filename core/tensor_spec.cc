#include "trelu/tensor_spec.h"

#include <absl/status/status.h>

#include <utility>

namespace trelu {

absl::StatusOr<TensorSpec> TensorSpec::Create(DType dtype, std::span<const std::int64_t> dims) {
  absl::StatusOr<Shape> shape = Shape::Create(dims);
  if (!shape.ok()) return shape.status();
  const auto element_bytes = static_cast<std::int64_t>(ElementBytes(dtype));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape->element_count(), element_bytes, &bytes)) {
    return absl::InvalidArgumentError("shape: byte count overflows int64");
  }
  return TensorSpec(dtype, *std::move(shape), static_cast<std::uint64_t>(bytes));
}

}  // namespace trelu
