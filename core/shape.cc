#include "trelu/shape.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

namespace trelu {

// Not inline: seen into, g++ 12 warns of uninitialised memory where there is none.
Shape::Shape() = default;

absl::StatusOr<Shape> Shape::Create(std::span<const std::int64_t> dims) {
  if (dims.size() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", dims.size(), ": at most ", kMaxRank));
  }
  // A zero makes the tensor empty but must not hide the sizes beside it, so they are multiplied
  // apart.
  std::int64_t product = 1;
  bool empty = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape[", i, "] = ", dims[i], ": must be >= 0"));
    }
    if (dims[i] == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, dims[i], &product)) {
      return absl::InvalidArgumentError("shape: element count overflows int64");
    }
  }
  return Shape(dims, empty ? 0 : product);
}

}  // namespace trelu
