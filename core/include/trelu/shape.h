// A tensor's shape, checked once when it is made.
#ifndef TRELU_SHAPE_H_
#define TRELU_SHAPE_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace trelu {

// The most dimensions a tensor may have.
inline constexpr std::size_t kMaxRank = 64;

// A valid shape: at most kMaxRank dimensions, none negative, and the product of the dimensions that
// are not zero fits an int64 (so that a zero never hides an absurd size). Rank 0 is a scalar: one
// element. Immutable, copyable; any thread.
class Shape {
 public:
  // Rank 0.
  Shape();

  // INVALID_ARGUMENT, naming the dimension ("shape[1] = -4: must be >= 0"), for anything else than
  // a valid shape.
  static absl::StatusOr<Shape> Create(std::span<const std::int64_t> dims);

  std::span<const std::int64_t> dims() const { return {dims_.data(), dims_.size()}; }
  std::int64_t element_count() const { return element_count_; }

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }

 private:
  Shape(std::span<const std::int64_t> dims, std::int64_t element_count)
      : dims_(dims.begin(), dims.end()), element_count_(element_count) {}

  absl::InlinedVector<std::int64_t, 8> dims_;
  std::int64_t element_count_ = 1;
};

}  // namespace trelu

#endif  // TRELU_SHAPE_H_
