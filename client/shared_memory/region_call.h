// Makes a region and registers it at the server.
#ifndef TRELU_CLIENT_SHARED_MEMORY_REGION_CALL_H_
#define TRELU_CLIENT_SHARED_MEMORY_REGION_CALL_H_

#include <grpcpp/channel.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "client/retry.h"
#include "client/sequence.h"
#include "client/shared_memory/region_pool.h"

namespace trelu {

// Asks the server first whether it allows any, unless that is known. Ends with why there is no
// region, when there is none; the pool knows it too, unless it was only that this caller is in a
// hurry. Waits for the server for a second at most, or for half of the time that the caller has.
class RegionCall final : public Sequence {
 public:
  using NextChannel = std::function<std::shared_ptr<grpc::Channel>()>;

  // `bytes`: nothing for a region of the pool's. `pool` must outlive the call.
  RegionCall(Deadline deadline, RetrySchedule retry, NextChannel next_channel, RegionPool& pool,
             std::optional<std::size_t> bytes);

  // After an OK.
  std::shared_ptr<SharedRegion> TakeRegion() { return std::move(region_); }

 private:
  void First() override;
  void Ask();
  void Register();
  // How long the server has for an answer, and whether that is less than one would otherwise wait.
  struct Patience {
    Deadline deadline;
    bool short_of_time;
    // Whether the failure says something of the server.
    bool Blames(const absl::Status& status) const;
  };
  Patience ForOneStep() const;

  const Deadline deadline_;
  const RetrySchedule retry_;
  const NextChannel next_channel_;
  RegionPool& pool_;
  const std::optional<std::size_t> bytes_;
  std::shared_ptr<SharedRegion> region_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_REGION_CALL_H_
