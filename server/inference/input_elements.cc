#include "server/inference/input_elements.h"

#include <absl/strings/str_cat.h>

#include <string_view>
#include <utility>

#include "proto/infer_datatype.h"

namespace trelu::server {
namespace {

using inference::InferTensorContents;

// Of arrays that the operator takes none of.
bool HasOtherElements(const InferTensorContents& contents) {
  return contents.bool_contents_size() > 0 || contents.int_contents_size() > 0 ||
         contents.int64_contents_size() > 0 || contents.uint_contents_size() > 0 ||
         contents.uint64_contents_size() > 0 || contents.bytes_contents_size() > 0;
}

// The elements that came in arrays of their type.
absl::StatusOr<Payload> TakeTyped(const std::string& input, const InferTensorContents& contents,
                                  TypedContents typed, DType dtype) {
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    const std::string_view datatype = OpenInferenceName(dtype);
    return absl::InvalidArgumentError(absl::StrCat(
        input, ": contents: there are none for ",
        absl::string_view(datatype.data(), datatype.size()), "; send raw_input_contents"));
  }
  const bool single = dtype == DType::kFloat32;
  if (HasOtherElements(contents) || !(single ? typed.fp64 : typed.fp32).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(input, ": contents: expected ",
                                                   single ? "fp32_contents" : "fp64_contents",
                                                   " alone, of the tensor's datatype"));
  }
  return std::move(single ? typed.fp32 : typed.fp64);
}

}  // namespace

absl::StatusOr<Payload> TakeElements(const std::string& input, InferRequest& message, DType dtype) {
  const auto& tensor = message.header.inputs(0);
  auto& raw = message.tensors.raw;
  if (tensor.has_contents() && !raw.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(input, ": has both contents and raw_input_contents"));
  }
  if (raw.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(input, ": raw_input_contents: got ", raw.size(), " entries, expected 1"));
  }
  if (!raw.empty()) return std::move(raw[0]);
  if (!tensor.has_contents()) return Payload();
  return TakeTyped(input, tensor.contents(), std::move(message.tensors.typed[0]), dtype);
}

absl::Status CheckNoElements(const std::string& input, const InferRequest& message) {
  const bool raw = !message.tensors.raw.empty();
  if (!raw && !message.header.inputs(0).has_contents()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(input, ": has both a shared_memory_region and ",
                                                 raw ? "raw_input_contents" : "contents"));
}

}  // namespace trelu::server
