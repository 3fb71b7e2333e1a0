#include "client/shared_memory/shared_call.h"

#include <absl/strings/str_cat.h>
#include <grpc/support/time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/shared_memory/region_pool.h"
#include "client/status.h"
#include "proto/infer_datatype.h"

namespace trelu {
namespace {

using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

void SetPlace(const SharedPlace& place, std::uint64_t bytes, Parameters& parameters) {
  parameters["shared_memory_region"].set_string_param(place.region->name());
  parameters["shared_memory_offset"].set_int64_param(static_cast<std::int64_t>(place.offset));
  parameters["shared_memory_byte_size"].set_int64_param(static_cast<std::int64_t>(bytes));
}

// Whether the failure is the call's, not the shared memory's.
bool IsOfTheCall(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED ||
         code == grpc::StatusCode::DEADLINE_EXCEEDED;
}

}  // namespace

SharedCall::SharedCall(Deadline deadline, RetrySchedule retry, std::unique_ptr<Stub> stub,
                       TensorSpec spec, std::optional<float> alpha, TensorPlaces places,
                       std::shared_ptr<SharedRegion> scratch)
    : TriedCall(deadline, retry),
      stub_(std::move(stub)),
      spec_(std::move(spec)),
      places_(std::move(places)),
      scratch_(std::move(scratch)),
      piece_bytes_(places_.x_shared && places_.y_shared ? spec_.bytes() : RegionPool::kPieceBytes),
      pieces_((spec_.bytes() + piece_bytes_ - 1) / piece_bytes_) {
  request_.set_model_name("thresholded_relu");
  if (alpha) (*request_.mutable_parameters())["alpha"].set_double_param(*alpha);
  auto& input = *request_.add_inputs();
  input.set_name("X");
  input.set_datatype(std::string(OpenInferenceName(spec_.dtype())));
  request_.add_outputs()->set_name("Y");
}

void SharedCall::StartTry() {
  if (std::exchange(begun_, true)) {
    alarm_.Set(&queue(), gpr_inf_past(GPR_CLOCK_MONOTONIC), second_try_.Tag());
    return;
  }
  // Errors end the stream instead of being told within it.
  context().AddMetadata("triton_grpc_error", "true");
  stream_ = stub_->PrepareAsyncModelStreamInfer(&context(), &queue());
  stream_->StartCall(started_.Tag());
}

void SharedCall::DropTry() { stream_.reset(); }

std::uint64_t SharedCall::BytesOf(std::uint64_t piece) const {
  return std::min(piece_bytes_, spec_.bytes() - piece * piece_bytes_);
}

SharedPlace SharedCall::YPlace(std::uint64_t piece) const {
  if (!places_.y_shared) return {scratch_, piece % RegionPool::kPieces * piece_bytes_};
  return {places_.y_shared->region, places_.y_shared->offset + piece * piece_bytes_};
}

bool SharedCall::MayWrite() const {
  return !writing_ && reading_ && abandoned_.ok() && sent_ < pieces_ &&
         sent_ - answered_ < RegionPool::kPieces;
}

void SharedCall::WriteNext() {
  const std::uint64_t piece = sent_++;
  const std::uint64_t begin = piece * piece_bytes_;
  const std::uint64_t bytes = BytesOf(piece);
  const SharedPlace y = YPlace(piece);
  SharedPlace x = y;
  if (places_.x_shared) {
    x = {places_.x_shared->region, places_.x_shared->offset + begin};
  } else {
    std::memcpy(y.region->bytes().data() + y.offset, places_.x.data() + begin, bytes);
  }
  request_.set_id(absl::StrCat(piece));
  auto& input = *request_.mutable_inputs(0);
  input.clear_shape();
  input.add_shape(static_cast<std::int64_t>(bytes / ElementBytes(spec_.dtype())));
  SetPlace(x, bytes, *input.mutable_parameters());
  SetPlace(y, bytes, *request_.mutable_outputs(0)->mutable_parameters());
  writing_ = true;
  if (sent_ == pieces_) {
    stream_->WriteLast(request_, grpc::WriteOptions(), written_.Tag());
  } else {
    stream_->Write(request_, written_.Tag());
  }
}

void SharedCall::ReadNext() {
  reading_ = true;
  stream_->Read(&response_, read_.Tag());
}

void SharedCall::OnStarted(bool ok) {
  if (ok) {
    ReadNext();
    WriteNext();
  }
  FinishWhenIdle();
}

void SharedCall::OnWritten(bool ok) {
  writing_ = false;
  // Not ok: the call is over, and reading says so too.
  if (ok && MayWrite()) WriteNext();
  FinishWhenIdle();
}

absl::Status SharedCall::Check(std::uint64_t piece) const {
  const auto& answer = response_.infer_response();
  if (piece >= sent_ || answer.id() != absl::StrCat(piece)) {
    return absl::DataLossError("the answer is not to what was sent");
  }
  const auto elements = static_cast<std::int64_t>(BytesOf(piece) / ElementBytes(spec_.dtype()));
  if (answer.outputs_size() != 1 || answer.outputs(0).name() != "Y" ||
      answer.outputs(0).datatype() != OpenInferenceName(spec_.dtype()) ||
      answer.outputs(0).shape_size() != 1 || answer.outputs(0).shape(0) != elements) {
    return absl::DataLossError("the answer's tensor is not the request's: another dtype or shape");
  }
  for (const std::string& raw : answer.raw_output_contents()) {
    if (!raw.empty()) return absl::DataLossError("the answer is not in the shared memory");
  }
  return absl::OkStatus();
}

void SharedCall::OnRead(bool ok) {
  reading_ = false;
  if (ok && abandoned_.ok()) {
    const std::uint64_t piece = answered_;
    abandoned_ = Check(piece);
    if (abandoned_.ok()) {
      if (!places_.y_shared) {
        const SharedPlace y = YPlace(piece);
        std::memcpy(places_.y.data() + piece * piece_bytes_, y.region->bytes().data() + y.offset,
                    BytesOf(piece));
      }
      ++answered_;
      ReadNext();
      if (MayWrite()) WriteNext();
    } else {
      context().TryCancel();
    }
  }
  FinishWhenIdle();
}

void SharedCall::FinishWhenIdle() {
  if (!reading_ && !writing_) stream_->Finish(&status_, finished_.Tag());
}

void SharedCall::OnFinished(bool /*ok*/) {
  if (!abandoned_.ok()) {
    End(std::move(abandoned_));
  } else if (status_.ok()) {
    End(answered_ == pieces_ ? absl::OkStatus()
                             : absl::DataLossError("the answer ends before the tensor does"));
  } else if (IsOfTheCall(status_.error_code())) {
    // A server that is only out of reach may go on writing to the caller's buffer, after another
    // try has ended well.
    TryFailed(status_, /*may_retry=*/!places_.y_shared || push_back().given());
  } else {
    verdict_ = Verdict::kImpossible;
    End(FromGrpc(status_));
  }
}

void SharedCall::OnSecondTry(bool /*ok*/) {
  verdict_ = Verdict::kTryAgain;
  End(absl::UnavailableError("another try is due"));
}

}  // namespace trelu
