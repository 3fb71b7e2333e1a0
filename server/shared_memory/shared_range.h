// A range of a registered region, as one request uses it.
#ifndef TRELU_SERVER_SHARED_MEMORY_SHARED_RANGE_H_
#define TRELU_SERVER_SHARED_MEMORY_SHARED_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "server/shared_memory/region.h"

namespace trelu::server {

// Keeps the mapping alive, also when the region is unregistered meanwhile. A value: copies name the
// same bytes.
class SharedRange {
 public:
  enum class Overlap { kNone, kSame, kPartial };

  // The range lies within `region`.
  SharedRange(std::shared_ptr<const Region> region, std::size_t offset, std::size_t bytes);

  // The first `bytes` of them, at most as many as there are.
  SharedRange First(std::size_t bytes) const;

  // Of any alignment.
  std::span<std::byte> bytes() const { return bytes_; }

  // See Region::lost. A request whose range is lost at its end fails with RegionLost.
  bool lost() const { return region_->lost(); }

  // Decided in the object, so two registrations of one object count as what they are, though they
  // lie at different addresses. kSame: the very same bytes; work in place on either span. An empty
  // range overlaps nothing.
  friend Overlap Compare(const SharedRange& a, const SharedRange& b);

 private:
  std::uint64_t offset_in_object() const;

  std::shared_ptr<const Region> region_;
  std::span<std::byte> bytes_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SHARED_MEMORY_SHARED_RANGE_H_
