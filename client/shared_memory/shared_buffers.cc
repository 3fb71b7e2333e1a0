#include "client/shared_memory/shared_buffers.h"

#include <absl/strings/str_cat.h>

#include <functional>
#include <iterator>
#include <new>
#include <utility>

namespace trelu {
namespace {

class PlainBuffer final : public SharedBuffer {
 public:
  PlainBuffer(std::unique_ptr<std::byte[]> memory, std::size_t size)  // NOLINT(*-avoid-c-arrays)
      : memory_(std::move(memory)), size_(size) {}

  std::span<std::byte> bytes() const override { return {memory_.get(), size_}; }
  bool shared() const override { return false; }

 private:
  std::unique_ptr<std::byte[]> memory_;  // NOLINT(*-avoid-c-arrays): sized at run time
  std::size_t size_;
};

}  // namespace

class SharedBuffers::Buffer final : public SharedBuffer {
 public:
  Buffer(std::shared_ptr<SharedBuffers> home, std::shared_ptr<SharedRegion> region,
         std::size_t size)
      : home_(std::move(home)), region_(std::move(region)), size_(size) {}
  ~Buffer() override {
    // Before the memory goes, and another may come to be where it was.
    const std::lock_guard lock(home_->mutex_);
    home_->regions_.erase(region_->bytes().data());
  }

  std::span<std::byte> bytes() const override { return region_->bytes().first(size_); }
  bool shared() const override { return region_->known(); }

 private:
  const std::shared_ptr<SharedBuffers> home_;
  const std::shared_ptr<SharedRegion> region_;
  const std::size_t size_;
};

std::unique_ptr<SharedBuffer> SharedBuffers::Wrap(std::shared_ptr<SharedRegion> region,
                                                  std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    regions_.emplace(region->bytes().data(), region);
  }
  return std::make_unique<Buffer>(shared_from_this(), std::move(region), bytes);
}

std::optional<SharedPlace> SharedBuffers::Find(std::span<const std::byte> bytes) const {
  const std::lock_guard lock(mutex_);
  const auto after = regions_.upper_bound(bytes.data());
  if (after == regions_.begin()) return std::nullopt;
  const auto& region = std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(bytes.data() - region->bytes().data());
  const std::size_t size = region->bytes().size();
  if (offset > size || bytes.size() > size - offset || !region->known()) return std::nullopt;
  return SharedPlace{region, offset};
}

void SharedBuffers::Forget() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, region] : regions_) region->set_known(false);
}

absl::StatusOr<std::unique_ptr<SharedBuffer>> NewPlainBuffer(std::size_t bytes) {
  std::unique_ptr<std::byte[]> memory(  // NOLINT(*-avoid-c-arrays): sized at run time
      new (std::nothrow) std::byte[bytes]);
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes"));
  }
  return std::make_unique<PlainBuffer>(std::move(memory), bytes);
}

}  // namespace trelu
