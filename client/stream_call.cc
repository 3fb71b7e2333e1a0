#include "client/stream_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/apply_codec.h"

namespace trelu {

StreamCall::StreamCall(Deadline deadline, RetrySchedule retry,
                       std::function<grpc::GenericStub&()> next_stub, ChunkPool& pool,
                       std::uint64_t chunk_bytes, TensorSpec spec, std::optional<float> alpha,
                       StreamEnds ends)
    : TriedCall(deadline, retry),
      next_stub_(std::move(next_stub)),
      pool_(pool),
      chunk_bytes_(chunk_bytes),
      spec_(std::move(spec)),
      alpha_(alpha),
      ends_(std::move(ends)),
      answer_(spec_, ends_.sink) {}

void StreamCall::StartTry() {
  static const std::string method = "/trelu.v1.ThresholdedRelu/ApplyStream";
  asked_bytes_ = 0;
  answer_.Restart();
  stream_ = next_stub_().PrepareCall(&context(), method, &queue());
  stream_->StartCall(started_.Tag());
}

void StreamCall::DropTry() {
  stream_.reset();
  response_.Clear();
}

void StreamCall::OnStarted(bool ok) {
  if (ok) {
    ReadNext();
    WriteNext();
  }
  FinishWhenIdle();
}

void StreamCall::WriteNext() {
  const std::uint64_t offset = asked_bytes_;
  const auto bytes = static_cast<std::size_t>(std::min(chunk_bytes_, spec_.bytes() - offset));
  std::uint64_t filled = offset;
  asked_bytes_ += bytes;
  absl::StatusOr<Payload> payload = pool_.Fill(bytes, [&](std::span<std::byte> part) {
    absl::Status status = ends_.source(filled, part);
    filled += part.size();
    return status;
  });
  if (!payload.ok()) {
    Abandon(payload.status());
    return;
  }
  const bool first = offset == 0;
  const grpc::ByteBuffer message = EncodeApplyRequest(
      first ? &spec_ : nullptr, first ? alpha_ : std::nullopt, *std::move(payload));
  writing_ = true;
  if (asked_bytes_ == spec_.bytes()) {
    stream_->WriteLast(message, grpc::WriteOptions(), written_.Tag());
  } else {
    stream_->Write(message, written_.Tag());
  }
}

void StreamCall::OnWritten(bool ok) {
  writing_ = false;
  // Not ok: the call is over, and reading says so too.
  if (ok && reading_ && abandoned_.ok() && asked_bytes_ < spec_.bytes()) WriteNext();
  FinishWhenIdle();
}

void StreamCall::ReadNext() {
  reading_ = true;
  stream_->Read(&response_, read_.Tag());
}

void StreamCall::OnRead(bool ok) {
  reading_ = false;
  if (ok && abandoned_.ok()) {
    absl::Status added = answer_.Add(response_);
    if (added.ok() && answer_.received_bytes() > asked_bytes_) {
      added = absl::DataLossError("the answer is ahead of what was sent");
    }
    if (added.ok()) {
      ReadNext();
    } else {
      Abandon(std::move(added));
    }
  }
  FinishWhenIdle();
}

void StreamCall::Abandon(absl::Status reason) {
  abandoned_ = std::move(reason);
  context().TryCancel();
}

void StreamCall::FinishWhenIdle() {
  if (!reading_ && !writing_) stream_->Finish(&status_, finished_.Tag());
}

void StreamCall::OnFinished(bool /*ok*/) {
  if (!abandoned_.ok()) {
    End(std::move(abandoned_));
  } else if (status_.ok()) {
    End(answer_.Complete());
  } else {
    TryFailed(status_, ends_.may_restart(asked_bytes_, answer_.received_bytes()));
  }
}

}  // namespace trelu
