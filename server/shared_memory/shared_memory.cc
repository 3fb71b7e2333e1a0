#include "server/shared_memory/shared_memory.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "server/log.h"

namespace trelu::server {
namespace {

std::string Called(std::string_view name) { return absl::StrCat("region ", Quoted(name)); }

absl::Status About(std::string_view name, const absl::Status& status) {
  return {status.code(), absl::StrCat(Called(name), ": ", status.message())};
}

absl::Status SwitchedOff() {
  return absl::UnimplementedError("shared memory: switched off (--shared-memory-prefix)");
}

absl::Status Unknown(std::string_view name) {
  return absl::NotFoundError(absl::StrCat(Called(name), ": not registered"));
}

absl::Status CheckName(std::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError("name: empty");
  if (name.size() <= SharedMemory::kMaxNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "name: got ", name.size(), " bytes, expected at most ", SharedMemory::kMaxNameBytes));
}

std::string_view WithoutSlash(std::string_view prefix) {
  return prefix.substr(prefix.starts_with('/') ? 1 : 0);
}

}  // namespace

absl::Status RegionLost(std::string_view name) {
  return absl::FailedPreconditionError(
      absl::StrCat(Called(name),
                   ": the shared memory object shrank, or its file system is full; unregister the "
                   "region and register it anew"));
}

SharedMemory::SharedMemory(std::string_view prefix, Limits limits, Executor& chores)
    : enabled_(!prefix.empty()), prefix_(WithoutSlash(prefix)), limits_(limits), chores_(chores) {}

absl::Status SharedMemory::CheckRoom(std::string_view name, std::uint64_t byte_size) const {
  if (registrations_.contains(name)) {
    return absl::AlreadyExistsError(absl::StrCat(Called(name), ": already registered"));
  }
  if (registrations_.size() >= limits_.max_regions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("shared memory: at most ", limits_.max_regions, " regions are registered"));
  }
  if (byte_size > limits_.max_bytes - registered_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("shared memory: ", byte_size, " bytes more than the ", registered_bytes_,
                     " registered, expected at most ", limits_.max_bytes,
                     " together (--max-shared-memory-bytes)"));
  }
  return absl::OkStatus();
}

absl::Status SharedMemory::Register(std::string_view name, std::string_view key,
                                    std::uint64_t offset, std::uint64_t byte_size) {
  if (!enabled_) return SwitchedOff();
  if (absl::Status named = CheckName(name); !named.ok()) return named;
  const auto object = ObjectName(key);
  if (!object.ok()) return About(name, object.status());
  if (!object->starts_with(prefix_)) {
    return About(
        name, absl::InvalidArgumentError("key: does not begin as --shared-memory-prefix demands"));
  }
  {
    // Before the object is looked at, which may be gone when its name is given again.
    const std::lock_guard lock(mutex_);
    if (absl::Status room = CheckRoom(name, 0); !room.ok()) return room;
  }
  // Without the lock: nobody's lookup waits for the system.
  auto opened = Region::Open(key, offset, byte_size);
  if (!opened.ok()) return About(name, opened.status());
  // Whoever used it last may be a queue's thread.
  const auto unmap = [&chores = chores_](const Region* gone) {
    chores.Schedule([gone] { delete gone; });
  };
  std::shared_ptr<const Region> region(opened->release(), unmap);
  const std::lock_guard lock(mutex_);
  if (absl::Status room = CheckRoom(name, byte_size); !room.ok()) return room;
  registered_bytes_ += byte_size;
  registrations_.emplace(name, Registration{std::string(key), std::move(region)});
  return absl::OkStatus();
}

absl::Status SharedMemory::Unregister(std::string_view name) {
  if (!enabled_) return SwitchedOff();
  Registrations gone;  // after the lock is released
  const std::lock_guard lock(mutex_);
  if (name.empty()) {
    gone.swap(registrations_);
    registered_bytes_ = 0;
  } else if (const auto found = registrations_.find(name); found != registrations_.end()) {
    gone.insert(Extract(found));
  }
  return absl::OkStatus();
}

SharedMemory::Registrations::node_type SharedMemory::Extract(Registrations::iterator registration) {
  registered_bytes_ -= registration->second.region->bytes().size();
  return registrations_.extract(registration);
}

std::size_t SharedMemory::UnregisterAbandoned() {
  // The system is asked without the lock: nobody's lookup waits for it.
  std::vector<std::pair<std::string, std::shared_ptr<const Region>>> regions;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, registration] : registrations_) {
      regions.emplace_back(name, registration.region);
    }
  }
  std::erase_if(regions, [](const auto& entry) { return !entry.second->abandoned(); });
  Registrations gone;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, region] : regions) {
    const auto found = registrations_.find(name);
    if (found != registrations_.end() && found->second.region == region) {
      gone.insert(Extract(found));
    }
  }
  return gone.size();
}

SharedMemory::Totals SharedMemory::totals() const {
  const std::lock_guard lock(mutex_);
  return {registrations_.size(), registered_bytes_};
}

absl::StatusOr<std::vector<RegionStatus>> SharedMemory::Status(std::string_view name) const {
  std::vector<RegionStatus> regions;
  const auto add = [&regions](const Registrations::value_type& entry) {
    const Region& region = *entry.second.region;
    regions.push_back({entry.first, entry.second.key, region.offset(), region.bytes().size()});
  };
  const std::lock_guard lock(mutex_);
  if (name.empty()) {
    for (const auto& entry : registrations_) add(entry);
  } else if (const auto found = registrations_.find(name); found != registrations_.end()) {
    add(*found);
  } else {
    return Unknown(name);
  }
  return regions;
}

absl::StatusOr<SharedRange> SharedMemory::Find(std::string_view name, std::uint64_t offset,
                                               std::uint64_t bytes) const {
  if (!enabled_) return SwitchedOff();
  std::shared_ptr<const Region> region;
  {
    const std::lock_guard lock(mutex_);
    const auto found = registrations_.find(name);
    if (found == registrations_.end()) return Unknown(name);
    region = found->second.region;
  }
  const std::size_t size = region->bytes().size();
  if (offset > size || bytes > size - offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("shared_memory_offset and shared_memory_byte_size: got ", offset, " and ",
                     bytes, ", ", Called(name), " has ", size, " bytes"));
  }
  if (region->lost()) return RegionLost(name);
  return SharedRange(std::move(region), offset, bytes);
}

}  // namespace trelu::server
