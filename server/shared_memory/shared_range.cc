#include "server/shared_memory/shared_range.h"

#include <utility>

namespace trelu::server {

SharedRange::SharedRange(std::shared_ptr<const Region> region, std::size_t offset,
                         std::size_t bytes)
    : region_(std::move(region)), bytes_(region_->bytes().subspan(offset, bytes)) {}

SharedRange SharedRange::First(std::size_t bytes) const {
  SharedRange first = *this;
  first.bytes_ = bytes_.first(bytes);
  return first;
}

std::uint64_t SharedRange::offset_in_object() const {
  return region_->offset() + static_cast<std::uint64_t>(bytes_.data() - region_->bytes().data());
}

SharedRange::Overlap Compare(const SharedRange& a, const SharedRange& b) {
  using Overlap = SharedRange::Overlap;
  if (!a.region_->SharesObjectWith(*b.region_)) return Overlap::kNone;
  const std::uint64_t a_begin = a.offset_in_object();
  const std::uint64_t b_begin = b.offset_in_object();
  const std::size_t a_bytes = a.bytes_.size();
  const std::size_t b_bytes = b.bytes_.size();
  if (a_bytes == 0 || b_bytes == 0) return Overlap::kNone;
  if (a_begin + a_bytes <= b_begin || b_begin + b_bytes <= a_begin) return Overlap::kNone;
  return a_begin == b_begin && a_bytes == b_bytes ? Overlap::kSame : Overlap::kPartial;
}

}  // namespace trelu::server
