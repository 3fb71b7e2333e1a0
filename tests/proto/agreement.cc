#include "tests/proto/agreement.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "proto/apply_codec.h"
#include "tests/proto/message_bytes.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::testing {
namespace {

std::optional<float> Alpha(const v1::ApplyRequest& message) {
  return message.has_alpha() ? std::optional(message.alpha()) : std::nullopt;
}
std::optional<float> Alpha(const v1::ApplyResponse&) { return std::nullopt; }

std::optional<std::uint32_t> Bits(std::optional<float> value) {
  return value ? std::optional(std::bit_cast<std::uint32_t>(*value)) : std::nullopt;
}

template <typename Message>
std::string FieldDifference(const ApplyMessage& got, const Message& expected) {
  if (got.tensor.has_value() != expected.has_tensor()) return "tensor: presence differs";
  if (got.tensor) {
    if (got.tensor->dtype != expected.tensor().dtype()) {
      return absl::StrCat("tensor.dtype: ", got.tensor->dtype, ", protobuf has ",
                          static_cast<int>(expected.tensor().dtype()));
    }
    if (!std::ranges::equal(got.tensor->shape, expected.tensor().shape())) {
      return "tensor.shape differs";
    }
  }
  if (Bits(got.alpha) != Bits(Alpha(expected))) return "alpha differs";
  if (got.data.bytes() != expected.data().size()) return "data: size differs";
  if (Join(got.data.slices()) != expected.data()) return "data differs";
  return {};
}

template <typename Message>
std::string Disagreement(std::string_view bytes, absl::StatusOr<ApplyMessage> got) {
  Message expected;
  const bool valid = expected.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (got.ok() != valid) {
    return valid ? absl::StrCat("protobuf accepts: ", got.status().ToString()) : "protobuf refuses";
  }
  if (!valid) {
    return got.status().code() == absl::StatusCode::kInvalidArgument ? "" : "wrong status code";
  }
  if (std::string difference = FieldDifference(*got, expected); !difference.empty()) {
    return difference;
  }

  std::optional<TensorSpec> tensor;
  if (got->tensor) {
    const std::optional<DType> dtype = DTypeFromOnnx(got->tensor->dtype);
    if (!dtype) return {};
    absl::StatusOr<TensorSpec> spec = TensorSpec::Create(*dtype, got->tensor->shape);
    if (!spec.ok()) return {};
    tensor = *std::move(spec);
  }
  const TensorSpec* spec = tensor ? &*tensor : nullptr;
  grpc::ByteBuffer encoded = std::is_same_v<Message, v1::ApplyRequest>
                                 ? EncodeApplyRequest(spec, got->alpha, std::move(got->data))
                                 : EncodeApplyResponse(spec, std::move(got->data));
  expected.DiscardUnknownFields();
  return Join(encoded) == expected.SerializeAsString() ? "" : "encoded differently";
}

}  // namespace

std::string RequestDisagreement(std::string_view bytes, grpc::ByteBuffer received) {
  return Disagreement<v1::ApplyRequest>(bytes, DecodeApplyRequest(received));
}

std::string ResponseDisagreement(std::string_view bytes, grpc::ByteBuffer received) {
  return Disagreement<v1::ApplyResponse>(bytes, DecodeApplyResponse(received));
}

}  // namespace trelu::testing
