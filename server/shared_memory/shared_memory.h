// The shared memory regions that clients have registered, by the names they gave them.
#ifndef TRELU_SERVER_SHARED_MEMORY_SHARED_MEMORY_H_
#define TRELU_SERVER_SHARED_MEMORY_SHARED_MEMORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/executor.h"
#include "server/shared_memory/region.h"
#include "server/shared_memory/shared_range.h"

namespace trelu::server {

// As it was registered; `key` as the client wrote it.
struct RegionStatus {
  std::string name;
  std::string key;
  std::uint64_t offset;
  std::uint64_t byte_size;
};

// FAILED_PRECONDITION: the region's object shrank, or its file system is full. The client
// unregisters it and registers it anew.
absl::Status RegionLost(std::string_view name);

// The system shared memory extension of the Open Inference protocol (Triton's
// extension_shared_memory.md), without the wire. Any thread, any time.
//
// All clients share one namespace: whoever may call can use, list and drop everyone's regions. So
// it is off by default, and an allow-list of key prefixes bounds what can be reached. The messages
// name regions by the clients' own names, escaped and cut, and never hold a key.
class SharedMemory {
 public:
  // What live registrations may come to. A region that is unregistered in use no longer counts.
  struct Limits {
    std::size_t max_regions = 1024;
    std::uint64_t max_bytes;
  };
  static constexpr std::size_t kMaxNameBytes = 256;

  // Keys must begin with `prefix`; one leading slash of either does not count. Empty: switched off.
  // "/": every key. `chores` unmaps, which takes the system a while; outlives the object and the
  // ranges.
  SharedMemory(std::string_view prefix, Limits limits, Executor& chores);

  bool enabled() const { return enabled_; }

  // Maps the bytes [offset, offset + byte_size) of the object `key` (Region::Open, with its errors)
  // under `name`. INVALID_ARGUMENT: `name` is empty or longer than kMaxNameBytes, or `key` does not
  // begin with the prefix, whether it exists or not. ALREADY_EXISTS: the name is taken.
  // RESOURCE_EXHAUSTED: over a limit. UNIMPLEMENTED: switched off.
  absl::Status Register(std::string_view name, std::string_view key, std::uint64_t offset,
                        std::uint64_t byte_size);

  // Frees the name at once; the memory goes with its last SharedRange. "" means all regions; an
  // unknown name is no error, as in Triton. UNIMPLEMENTED: switched off.
  absl::Status Unregister(std::string_view name);

  // Unregisters the regions that nobody but the server can see any more (Region::abandoned), as
  // clients leave them that were killed. Returns how many.
  std::size_t UnregisterAbandoned();

  // What live registrations come to.
  struct Totals {
    std::size_t regions;
    std::uint64_t bytes;
  };
  Totals totals() const;

  // The region, or all by name for "". It tells the keys to whoever asks, as the protocol wants it.
  // NOT_FOUND: an unknown name. Answers when switched off, too: there is none then.
  absl::StatusOr<std::vector<RegionStatus>> Status(std::string_view name) const;

  // The bytes [offset, offset + bytes) of the region. NOT_FOUND: an unknown name. INVALID_ARGUMENT:
  // not within the region. FAILED_PRECONDITION: the region is lost, and stays so until it is
  // unregistered. UNIMPLEMENTED: switched off.
  absl::StatusOr<SharedRange> Find(std::string_view name, std::uint64_t offset,
                                   std::uint64_t bytes) const;

 private:
  struct Registration {
    std::string key;
    std::shared_ptr<const Region> region;
  };
  using Registrations = std::map<std::string, Registration, std::less<>>;

  // With mutex_ held.
  absl::Status CheckRoom(std::string_view name, std::uint64_t byte_size) const;
  Registrations::node_type Extract(Registrations::iterator registration);

  const bool enabled_;
  const std::string prefix_;  // without its slash
  const Limits limits_;
  Executor& chores_;
  mutable std::mutex mutex_;
  Registrations registrations_;
  std::uint64_t registered_bytes_ = 0;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SHARED_MEMORY_SHARED_MEMORY_H_
