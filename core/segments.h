// A tensor's bytes where they lie: several ranges of memory, one after the other.
#ifndef TRELU_CORE_SEGMENTS_H_
#define TRELU_CORE_SEGMENTS_H_

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <span>

#include "core/thresholded_relu.h"

namespace trelu {

// Byte ranges that together hold a run of elements. A range may begin and end inside an element, be
// unaligned, or be empty. Refers to memory that it does not own.
class Segments {
 public:
  void Append(std::span<std::byte> range);

  std::size_t bytes() const { return bytes_; }

  // Applies `op` in place to the bytes [begin, end) of the run; both are multiples of the element's
  // size and at most bytes(). Threads may work on disjoint parts at the same time: an element that
  // straddles two ranges is written by the part that holds it alone.
  void ApplyInPlace(const ThresholdedRelu& op, std::size_t begin, std::size_t end) const;

  // The same, leaving the ranges as they are and writing the end - begin bytes of the result at
  // `y`, which does not overlap them.
  void Apply(const ThresholdedRelu& op, std::size_t begin, std::size_t end, std::byte* y) const;

 private:
  struct Range {
    std::byte* data;
    std::size_t begin;  // offset of the range's first byte in the run
    std::size_t end;
  };
  // A byte of the run; `range` holds it.
  struct Position {
    const Range* range;
    std::size_t offset;
    void Advance(std::size_t bytes);  // stays within the range or goes to the next one's first byte
  };

  // `y` is null for work in place.
  void Walk(const ThresholdedRelu& op, std::size_t begin, std::size_t end, std::byte* y) const;
  Position Find(std::size_t offset) const;
  // Copies whole elements from short ranges and moves `at` behind them; returns their bytes.
  static std::size_t Gather(Position& at, std::size_t end, std::size_t element_bytes,
                            std::span<std::byte> into);
  static void Scatter(Position at, std::span<const std::byte> from);

  absl::InlinedVector<Range, 4> ranges_;
  std::size_t bytes_ = 0;
};

}  // namespace trelu

#endif  // TRELU_CORE_SEGMENTS_H_
