#include "client/unary_call.h"

#include <cstring>
#include <string>
#include <utility>

namespace trelu {

UnaryCall::UnaryCall(Deadline deadline, RetrySchedule retry,
                     std::function<grpc::GenericStub&()> next_stub, const grpc::ByteBuffer& request,
                     TensorSpec spec, std::span<std::byte> y)
    : TriedCall(deadline, retry),
      next_stub_(std::move(next_stub)),
      request_(request),
      spec_(std::move(spec)),
      answer_(spec_, [y](std::uint64_t offset, std::span<const std::byte> bytes) {
        std::memcpy(y.data() + offset, bytes.data(), bytes.size());
        return absl::OkStatus();
      }) {}

void UnaryCall::StartTry() {
  static const std::string method = "/trelu.v1.ThresholdedRelu/Apply";
  reader_ = next_stub_().PrepareUnaryCall(&context(), method, request_, &queue());
  reader_->StartCall();
  reader_->Finish(&response_, &status_, finished_.Tag());
}

void UnaryCall::DropTry() {
  reader_.reset();
  response_.Clear();
}

void UnaryCall::OnFinished(bool /*ok*/) {
  if (!status_.ok()) {
    TryFailed(status_, /*may_retry=*/true);
    return;
  }
  absl::Status answered = answer_.Add(response_);
  if (answered.ok()) answered = answer_.Complete();
  End(std::move(answered));
}

}  // namespace trelu
