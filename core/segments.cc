#include "core/segments.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace trelu {
namespace {

// Ranges shorter than this are gathered, so that the operator sees few long runs instead of many
// short ones; longer ones are worth a call each.
constexpr std::size_t kDirectBytes = 512;
constexpr std::size_t kGatherBytes = 4096;

}  // namespace

void Segments::Append(std::span<std::byte> range) {
  if (range.empty()) return;
  ranges_.push_back({range.data(), bytes_, bytes_ + range.size()});
  bytes_ += range.size();
}

void Segments::ApplyInPlace(const ThresholdedRelu& op, std::size_t begin, std::size_t end) const {
  Walk(op, begin, end, nullptr);
}

void Segments::Apply(const ThresholdedRelu& op, std::size_t begin, std::size_t end,
                     std::byte* y) const {
  Walk(op, begin, end, y);
}

void Segments::Walk(const ThresholdedRelu& op, std::size_t begin, std::size_t end,
                    std::byte* y) const {
  const std::size_t element_bytes = ElementBytes(op.dtype());
  assert(begin <= end && end <= bytes_);
  assert(begin % element_bytes == 0 && end % element_bytes == 0);
  Position at = Find(begin);
  while (at.offset < end) {
    std::byte* const data = at.range->data + (at.offset - at.range->begin);
    std::size_t size = std::min(at.range->end, end) - at.offset;
    size -= size % element_bytes;
    if (size >= kDirectBytes) {
      op.Apply({data, size}, y == nullptr ? data : y);
      at.Advance(size);
    } else {
      std::array<std::byte, kGatherBytes> gathered;
      const Position first = at;
      size = Gather(at, end, element_bytes, gathered);
      op.Apply({gathered.data(), size}, y == nullptr ? gathered.data() : y);
      if (y == nullptr) Scatter(first, {gathered.data(), size});
    }
    if (y != nullptr) y += size;
  }
}

Segments::Position Segments::Find(std::size_t offset) const {
  const auto* range = std::upper_bound(
      ranges_.begin(), ranges_.end(), offset,
      [](std::size_t wanted, const Range& candidate) { return wanted < candidate.end; });
  return {range, offset};
}

void Segments::Position::Advance(std::size_t bytes) {
  offset += bytes;
  if (offset == range->end) ++range;
}

std::size_t Segments::Gather(Position& at, std::size_t end, std::size_t element_bytes,
                             std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size() && at.offset < end) {
    const std::size_t left = std::min(at.range->end, end) - at.offset;
    std::size_t size = std::min(left, into.size() - filled);
    // A long range gives no more than the rest of an element that began before it.
    if (left >= kDirectBytes + element_bytes) {
      size = (element_bytes - filled % element_bytes) % element_bytes;
      if (size == 0) break;
    }
    std::memcpy(into.data() + filled, at.range->data + (at.offset - at.range->begin), size);
    at.Advance(size);
    filled += size;
  }
  return filled;
}

void Segments::Scatter(Position at, std::span<const std::byte> from) {
  while (!from.empty()) {
    const std::size_t size = std::min(at.range->end - at.offset, from.size());
    std::memcpy(at.range->data + (at.offset - at.range->begin), from.data(), size);
    at.Advance(size);
    from = from.subspan(size);
  }
}

}  // namespace trelu
