// The regions that tensors pass through on their way to the server and back, and whether the server
// allows any.
#ifndef TRELU_CLIENT_SHARED_MEMORY_REGION_POOL_H_
#define TRELU_CLIENT_SHARED_MEMORY_REGION_POOL_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "client/shared_memory/shared_region.h"

namespace trelu {

// Any thread.
class RegionPool {
 public:
  // A tensor passes in pieces of kPieceBytes, of which a region has room for kPieces: while one is
  // copied in or out here, the server computes the other. Smaller pieces stay in the processor's
  // caches, but cost more wake-ups than that saves once other programs run too. A multiple of every
  // element's size.
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  static constexpr std::size_t kPieces = 2;
  static constexpr std::size_t kRegionBytes = kPieceBytes * kPieces;
  // Kept when nobody uses them, and the most, in use or not. Who finds none sends another way.
  static constexpr std::size_t kIdleRegions = 4;
  static constexpr std::size_t kMaxRegions = 32;
  // How long a server that cannot share memory is not asked again.
  static constexpr std::chrono::seconds kAskAgain{10};

  enum class Standing {
    kUnasked,
    kAllowed,
    kRefused,
  };

  explicit RegionPool(std::shared_ptr<Registrations> registrations)
      : registrations_(std::move(registrations)) {}

  Standing standing() const;
  // What the server says that names of objects must begin with; empty: it allows none.
  void Told(std::string_view prefix);
  // Something is in the way; for a while.
  void Refuse();
  // The server does not know a region any more: it is another, which knows none of them.
  void Forget();

  // A region that is registered and that nobody else uses, or null.
  std::shared_ptr<SharedRegion> TakeIdle();
  // Only when nobody can still be writing to it, the server included.
  void GiveBack(std::shared_ptr<SharedRegion> region);

  // A new region, yet to be registered: one for GiveBack, or of another size, which does not count
  // as one of the most. UNAVAILABLE: the server allows none; RESOURCE_EXHAUSTED: there are
  // kMaxRegions; otherwise as MemoryObject::Create, which makes the first Refuse.
  absl::StatusOr<std::shared_ptr<SharedRegion>> Create();
  absl::StatusOr<std::shared_ptr<SharedRegion>> Create(std::size_t bytes);

 private:
  const std::shared_ptr<Registrations> registrations_;
  mutable std::mutex mutex_;
  // From then on the answer below is not believed.
  std::chrono::steady_clock::time_point ask_again_;
  bool asked_ = false;
  std::string prefix_;
  std::vector<std::shared_ptr<SharedRegion>> idle_;
  std::vector<std::weak_ptr<SharedRegion>> all_;
  std::size_t being_made_ = 0;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_REGION_POOL_H_
