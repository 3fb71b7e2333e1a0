#include "client/shared_memory/region_call.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/small_call.h"
#include "inference/open_inference.grpc.pb.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu {
namespace {

// A server that takes longer is not fast enough to gain by it.
constexpr std::chrono::milliseconds kMost{1000};

}  // namespace

RegionCall::RegionCall(Deadline deadline, RetrySchedule retry, NextChannel next_channel,
                       RegionPool& pool, std::optional<std::size_t> bytes)
    : deadline_(deadline),
      retry_(retry),
      next_channel_(std::move(next_channel)),
      pool_(pool),
      bytes_(bytes) {}

// The other half is for the other way, when there is no answer.
RegionCall::Patience RegionCall::ForOneStep() const {
  const std::chrono::milliseconds half = deadline_.remaining() / 2;
  return {.deadline = deadline_.Within(std::min(half, kMost)), .short_of_time = half < kMost};
}

bool RegionCall::Patience::Blames(const absl::Status& status) const {
  return !(short_of_time && absl::IsDeadlineExceeded(status));
}

void RegionCall::First() {
  switch (pool_.standing()) {
    case RegionPool::Standing::kUnasked:
      Ask();
      return;
    case RegionPool::Standing::kAllowed:
      Register();
      return;
    case RegionPool::Standing::kRefused:
      break;
  }
  End(absl::UnavailableError("shared memory: the server could not share it before"));
}

void RegionCall::Ask() {
  const Patience patience = ForOneStep();
  Run(std::make_unique<SmallCall<v1::GetInfoResponse>>(
          patience.deadline, retry_,
          [this](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
            return v1::Server::NewStub(next_channel_())
                ->PrepareAsyncGetInfo(&context, v1::GetInfoRequest(), &queue);
          },
          [this](const v1::GetInfoResponse& info) { pool_.Told(info.shared_memory_prefix()); }),
      [this, patience](absl::Status status) {
        if (status.ok()) {
          Register();
        } else {
          if (patience.Blames(status)) pool_.Refuse();
          End(std::move(status));
        }
      });
}

void RegionCall::Register() {
  auto region = bytes_ ? pool_.Create(*bytes_) : pool_.Create();
  if (!region.ok()) {
    End(region.status());
    return;
  }
  region_ = *std::move(region);
  const Patience patience = ForOneStep();
  using inference::SystemSharedMemoryRegisterResponse;
  Run(std::make_unique<SmallCall<SystemSharedMemoryRegisterResponse>>(
          patience.deadline, retry_,
          [this](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
            inference::SystemSharedMemoryRegisterRequest request;
            request.set_name(region_->name());
            request.set_key(region_->key());
            request.set_byte_size(region_->bytes().size());
            return inference::GRPCInferenceService::NewStub(next_channel_())
                ->PrepareAsyncSystemSharedMemoryRegister(&context, request, &queue);
          },
          [](const SystemSharedMemoryRegisterResponse&) {}),
      [this, patience](absl::Status status) {
        region_->Unlink();
        if (status.ok()) {
          region_->set_known(true);
        } else {
          region_.reset();
          // That there is no room for a large one says nothing of the pool's.
          const bool of_its_size = bytes_ && absl::IsResourceExhausted(status);
          if (patience.Blames(status) && !of_its_size) pool_.Refuse();
        }
        End(std::move(status));
      });
}

}  // namespace trelu
