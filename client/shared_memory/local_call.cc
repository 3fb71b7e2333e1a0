#include "client/shared_memory/local_call.h"

#include <utility>

namespace trelu {

LocalCall::LocalCall(Deadline deadline, RetrySchedule retry, RegionCall::NextChannel next_channel,
                     RegionPool& pool, TensorSpec spec, std::optional<float> alpha,
                     TensorPlaces places, Ordinary ordinary)
    : deadline_(deadline),
      retry_(retry),
      next_channel_(std::move(next_channel)),
      pool_(pool),
      spec_(std::move(spec)),
      alpha_(alpha),
      places_(std::move(places)),
      ordinary_(std::move(ordinary)) {}

void LocalCall::First() {
  if (!places_.y_shared) scratch_ = pool_.TakeIdle();
  if (places_.y_shared || scratch_ != nullptr) {
    Share();
  } else {
    MakeScratch();
  }
}

void LocalCall::MakeScratch() {
  auto making = std::make_unique<RegionCall>(deadline_, retry_, next_channel_, pool_, std::nullopt);
  RegionCall& call = *making;
  Run(std::move(making), [this, &call](const absl::Status& status) {
    if (status.ok()) {
      scratch_ = call.TakeRegion();
      Share();
    } else {
      GoOrdinary(retry_);
    }
  });
}

void LocalCall::Share() {
  auto sharing = std::make_unique<SharedCall>(
      deadline_, retry_, inference::GRPCInferenceService::NewStub(next_channel_()), spec_, alpha_,
      places_, scratch_);
  const SharedCall& call = *sharing;
  Run(std::move(sharing), [this, &call](absl::Status status) { Shared(call, std::move(status)); });
}

void LocalCall::Shared(const SharedCall& call, absl::Status status) {
  // After a failure the server may still be writing to it.
  if (status.ok() && scratch_ != nullptr) pool_.GiveBack(std::move(scratch_));
  scratch_.reset();
  switch (call.verdict()) {
    case SharedCall::Verdict::kFinal:
      End(std::move(status));
      return;
    case SharedCall::Verdict::kImpossible:
      if (absl::IsNotFound(status)) {
        for (const auto& place : {places_.x_shared, places_.y_shared}) {
          if (place) place->region->set_known(false);
        }
        pool_.Forget();
      } else if (!places_.y_shared) {
        // The caller's own buffers cost little to try again, and cannot be replaced.
        pool_.Refuse();
      }
      break;
    case SharedCall::Verdict::kTryAgain:
      break;
  }
  GoOrdinary(call.schedule());
}

void LocalCall::GoOrdinary(const RetrySchedule& retry) {
  Run(ordinary_(retry), [this](absl::Status status) { End(std::move(status)); });
}

}  // namespace trelu
