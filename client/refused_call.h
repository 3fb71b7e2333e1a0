// A call that is over before it begins.
#ifndef TRELU_CLIENT_REFUSED_CALL_H_
#define TRELU_CLIENT_REFUSED_CALL_H_

#include <grpc/support/time.h>

#include <utility>

#include "client/call.h"

namespace trelu {

// Ends with `reason`, on the queue's thread as every call does.
class RefusedCall final : public TriedCall {
 public:
  RefusedCall(absl::Status reason, RetrySchedule retry)
      : TriedCall(Deadline(), retry), reason_(std::move(reason)) {}

 private:
  void StartTry() override { alarm_.Set(&queue(), gpr_inf_past(GPR_CLOCK_MONOTONIC), rung_.Tag()); }
  void DropTry() override {}
  void OnRung(bool /*ok*/) { End(std::move(reason_)); }

  absl::Status reason_;
  grpc::Alarm alarm_;
  CallEvent<RefusedCall> rung_{*this, &RefusedCall::OnRung};
};

}  // namespace trelu

#endif  // TRELU_CLIENT_REFUSED_CALL_H_
