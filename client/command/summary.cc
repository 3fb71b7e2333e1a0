#include "client/command/summary.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstring>

#include "client/command/element.h"

namespace trelu::command {
namespace {

struct Extent {
  std::uint64_t nonzero;
  std::int64_t least;
  std::int64_t greatest;
};

// Negative numbers are ordered the other way round: all bits but the sign are turned over. Its own
// inverse.
template <typename Int>
constexpr Int Key(Int bits) {
  return static_cast<Int>(bits ^
                          ((bits >> (sizeof(Int) * 8 - 1)) & std::numeric_limits<Int>::max()));
}

// `infinity` has the bit pattern of +inf; what is beyond it on either side is NaN.
template <typename Int>
Extent Scan(std::span<const std::byte> elements, Int infinity) {
  std::uint64_t nonzero = 0;
  Int least = std::numeric_limits<Int>::max();
  Int greatest = std::numeric_limits<Int>::min();
  const Int lowest = Key(static_cast<Int>(infinity | std::numeric_limits<Int>::min()));
  const std::size_t count = elements.size() / sizeof(Int);
  for (std::size_t i = 0; i < count; ++i) {
    Int bits;
    std::memcpy(&bits, elements.data() + i * sizeof(Int), sizeof(Int));
    nonzero += bits != 0 ? 1 : 0;
    const Int key = Key(bits);
    const bool number = key >= lowest && key <= infinity;
    least = std::min(least, number ? key : std::numeric_limits<Int>::max());
    greatest = std::max(greatest, number ? key : std::numeric_limits<Int>::min());
  }
  return {nonzero, least, greatest};
}

Extent Scan(DType dtype, std::span<const std::byte> elements) {
  switch (dtype) {
    case DType::kFloat16:
      return Scan<std::int16_t>(elements, 0x7c00);
    case DType::kBFloat16:
      return Scan<std::int16_t>(elements, 0x7f80);
    case DType::kFloat32:
      return Scan<std::int32_t>(elements, 0x7f800000);
    case DType::kFloat64:
      return Scan<std::int64_t>(elements, 0x7ff0000000000000);
  }
  return {};
}

std::string KeyText(DType dtype, std::int64_t key) {
  switch (ElementBytes(dtype)) {
    case 2: {
      const std::int16_t bits = Key(static_cast<std::int16_t>(key));
      return ElementText(dtype, reinterpret_cast<const std::byte*>(&bits));
    }
    case 4: {
      const std::int32_t bits = Key(static_cast<std::int32_t>(key));
      return ElementText(dtype, reinterpret_cast<const std::byte*>(&bits));
    }
    default: {
      const std::int64_t bits = Key(key);
      return ElementText(dtype, reinterpret_cast<const std::byte*>(&bits));
    }
  }
}

}  // namespace

Summary::Summary(const TensorSpec& spec)
    : spec_(spec),
      end_bytes_(kEnds * ElementBytes(spec.dtype())),
      whole_(ElementBytes(spec.dtype())) {}

void Summary::Add(std::span<const std::byte> result) {
  checksum_.Add(result);
  whole_.Add(result, [this](std::span<const std::byte> elements) { AddElements(elements); });
}

void Summary::AddElements(std::span<const std::byte> elements) {
  const Extent extent = Scan(spec_.dtype(), elements);
  nonzero_ += extent.nonzero;
  // An extent without numbers is the widest of its integer, turned inside out.
  if (extent.least <= extent.greatest) {
    least_key_ = std::min(least_key_, extent.least);
    greatest_key_ = std::max(greatest_key_, extent.greatest);
  }
  const auto head = elements.first(std::min(elements.size(), end_bytes_ - first_.size()));
  first_.insert(first_.end(), head.begin(), head.end());
  const auto tail = elements.last(std::min(elements.size(), end_bytes_));
  last_.insert(last_.end(), tail.begin(), tail.end());
  if (last_.size() > end_bytes_)
    last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(end_bytes_));
}

std::string Summary::Ends(std::span<const std::byte> elements) const {
  std::string text;
  const std::size_t element_bytes = ElementBytes(spec_.dtype());
  for (std::size_t at = 0; at < elements.size(); at += element_bytes) {
    absl::StrAppend(&text, at > 0 ? ", " : "", ElementText(spec_.dtype(), &elements[at]));
  }
  return text;
}

std::string Summary::Text() const {
  const std::int64_t count = spec_.shape().element_count();
  std::string text =
      absl::StrFormat("nonzero   %d of %d (%.1f %%)\n", nonzero_, count,
                      100 * static_cast<double>(nonzero_) / static_cast<double>(count));
  if (least_key_ <= greatest_key_) {
    absl::StrAppend(&text, "min, max  ", KeyText(spec_.dtype(), least_key_), ", ",
                    KeyText(spec_.dtype(), greatest_key_), "\n");
  }
  absl::StrAppend(&text, "elements  ", Ends(first_), ", ..., ", Ends(last_), "\n", "crc32c    ",
                  checksum_.Hex(), "\n");
  return text;
}

}  // namespace trelu::command
