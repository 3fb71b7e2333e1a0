#include "server/tensor_request.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <span>

namespace trelu::server {

absl::StatusOr<TensorRequest> ReadTensorRequest(const WireTensor& tensor,
                                                std::optional<float> alpha) {
  const auto dtype = DTypeFromOnnx(tensor.dtype);
  if (!dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor.dtype = ", tensor.dtype,
                     ": expected 1 (FLOAT), 10 (FLOAT16), 11 (DOUBLE) or 16 (BFLOAT16)"));
  }
  auto spec = TensorSpec::Create(*dtype, {tensor.shape.data(), tensor.shape.size()});
  if (!spec.ok()) {
    return absl::Status(spec.status().code(), absl::StrCat("tensor.", spec.status().message()));
  }
  return TensorRequest{*std::move(spec), ThresholdedRelu(*dtype, alpha.value_or(kDefaultAlpha))};
}

std::string Describe(const TensorSpec& spec) {
  constexpr std::size_t kShown = 8;
  const auto dims = spec.shape().dims();
  const auto shown = dims.first(std::min(kShown, dims.size()));
  const auto name = Name(spec.dtype());
  return absl::StrCat(absl::string_view(name.data(), name.size()), " [",
                      absl::StrJoin(shown.begin(), shown.end(), ", "),
                      dims.size() > kShown ? ", ...]" : "]");
}

absl::Status CheckBytes(const TensorSpec& spec, std::uint64_t bytes) {
  if (bytes == spec.bytes()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("data: got ", bytes, " bytes, expected ",
                                                 spec.bytes(), " for ", Describe(spec)));
}

}  // namespace trelu::server
