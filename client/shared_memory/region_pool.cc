#include "client/shared_memory/region_pool.h"

#include <utility>

namespace trelu {

using std::chrono::steady_clock;

RegionPool::Standing RegionPool::standing() const {
  const std::lock_guard lock(mutex_);
  if (!asked_) return Standing::kUnasked;
  if (!prefix_.empty()) return Standing::kAllowed;
  return steady_clock::now() < ask_again_ ? Standing::kRefused : Standing::kUnasked;
}

void RegionPool::Told(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  asked_ = true;
  prefix_ = prefix;
  ask_again_ = steady_clock::now() + kAskAgain;
}

void RegionPool::Refuse() { Told(""); }

void RegionPool::Forget() {
  std::vector<std::shared_ptr<SharedRegion>> idle;
  const std::lock_guard lock(mutex_);
  asked_ = false;
  idle.swap(idle_);
}

std::shared_ptr<SharedRegion> RegionPool::TakeIdle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  // The last one used is the one most likely still in the caches.
  std::shared_ptr<SharedRegion> region = std::move(idle_.back());
  idle_.pop_back();
  return region;
}

void RegionPool::GiveBack(std::shared_ptr<SharedRegion> region) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleRegions) idle_.push_back(std::move(region));
}

absl::StatusOr<std::shared_ptr<SharedRegion>> RegionPool::Create() {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    if (all_.size() + being_made_ >= kMaxRegions) {
      return absl::ResourceExhaustedError("shared memory: this client has enough of it");
    }
    ++being_made_;
  }
  auto region = Create(kRegionBytes);
  if (!region.ok()) Refuse();
  const std::lock_guard lock(mutex_);
  --being_made_;
  if (region.ok()) all_.push_back(*region);
  return region;
}

absl::StatusOr<std::shared_ptr<SharedRegion>> RegionPool::Create(std::size_t bytes) {
  std::string prefix;
  {
    const std::lock_guard lock(mutex_);
    prefix = prefix_;
  }
  if (prefix.empty()) return absl::UnavailableError("shared memory: the server allows none");
  absl::StatusOr<std::unique_ptr<MemoryObject>> object = MemoryObject::Create(prefix, bytes);
  if (!object.ok()) return object.status();
  return std::make_shared<SharedRegion>(*std::move(object), registrations_);
}

}  // namespace trelu
