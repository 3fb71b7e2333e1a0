// A call to a server on this host: through shared memory if that can be had, else as any other.
#ifndef TRELU_CLIENT_SHARED_MEMORY_LOCAL_CALL_H_
#define TRELU_CLIENT_SHARED_MEMORY_LOCAL_CALL_H_

#include <functional>
#include <memory>
#include <optional>

#include "client/retry.h"
#include "client/sequence.h"
#include "client/shared_memory/region_call.h"
#include "client/shared_memory/region_pool.h"
#include "client/shared_memory/shared_call.h"
#include "trelu/tensor_spec.h"

namespace trelu {

class LocalCall final : public Sequence {
 public:
  // Makes the call as it goes over the connection, with the tries that are left.
  using Ordinary = std::function<std::unique_ptr<Call>(const RetrySchedule&)>;

  // `pool` must outlive the call.
  LocalCall(Deadline deadline, RetrySchedule retry, RegionCall::NextChannel next_channel,
            RegionPool& pool, TensorSpec spec, std::optional<float> alpha, TensorPlaces places,
            Ordinary ordinary);

 private:
  void First() override;
  void MakeScratch();
  void Share();
  void Shared(const SharedCall& call, absl::Status status);
  void GoOrdinary(const RetrySchedule& retry);

  const Deadline deadline_;
  const RetrySchedule retry_;
  const RegionCall::NextChannel next_channel_;
  RegionPool& pool_;
  const TensorSpec spec_;
  const std::optional<float> alpha_;
  const TensorPlaces places_;
  const Ordinary ordinary_;
  std::shared_ptr<SharedRegion> scratch_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_LOCAL_CALL_H_
