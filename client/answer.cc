#include "client/answer.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "proto/apply_codec.h"

namespace trelu {
namespace {

bool IsTensor(const WireTensor& tensor, const TensorSpec& spec) {
  return tensor.dtype == static_cast<std::int32_t>(spec.dtype()) &&
         std::ranges::equal(tensor.shape, spec.shape().dims());
}

}  // namespace

Answer::Answer(const TensorSpec& spec, Take take) : spec_(spec), take_(std::move(take)) {}

absl::Status Answer::Add(grpc::ByteBuffer& message) {
  absl::StatusOr<ApplyMessage> decoded = DecodeApplyResponse(message);
  if (!decoded.ok()) return absl::DataLossError("the answer is not a well-formed ApplyResponse");
  if (decoded->tensor.has_value() == begun_) {
    return absl::DataLossError(begun_ ? "the answer has a second tensor"
                                      : "the answer has no tensor");
  }
  if (!begun_ && !IsTensor(*decoded->tensor, spec_)) {
    return absl::DataLossError("the answer's tensor is not the request's: another dtype or shape");
  }
  begun_ = true;
  if (decoded->data.bytes() > spec_.bytes() - received_bytes_) {
    return absl::DataLossError(
        absl::StrCat("the answer has more than the ", spec_.bytes(), " bytes of the request"));
  }
  for (const grpc::Slice& slice : decoded->data.slices()) {
    absl::Status taken =
        take_(received_bytes_, std::as_bytes(std::span(slice.begin(), slice.size())));
    if (!taken.ok()) return taken;
    received_bytes_ += slice.size();
  }
  return absl::OkStatus();
}

absl::Status Answer::Complete() const {
  if (!begun_) return absl::DataLossError("the answer has no tensor");
  if (received_bytes_ != spec_.bytes()) {
    return absl::DataLossError(absl::StrCat("the answer has ", received_bytes_,
                                            " bytes, the request had ", spec_.bytes()));
  }
  return absl::OkStatus();
}

void Answer::Restart() {
  begun_ = false;
  received_bytes_ = 0;
}

}  // namespace trelu
