#include "server/models/model.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <span>

#include "proto/infer_datatype.h"
#include "server/log.h"

namespace trelu::server {
namespace {

// "[2, N, -1]": names stand for sizes that are not fixed; cut after a few dimensions.
std::string Show(std::span<const std::int64_t> dims, std::span<const std::string> names = {}) {
  constexpr std::size_t kShownDims = 8;
  constexpr std::size_t kShownDimNameBytes = 16;
  std::string shown = "[";
  for (std::size_t i = 0; i < std::min(dims.size(), kShownDims); ++i) {
    absl::StrAppend(&shown, i == 0 ? "" : ", ");
    if (dims[i] < 0 && i < names.size() && !names[i].empty()) {
      shown += Printable(names[i], kShownDimNameBytes);
    } else {
      absl::StrAppend(&shown, dims[i]);
    }
  }
  return shown + (dims.size() > kShownDims ? ", ...]" : "]");
}

bool Takes(const Model& model, std::span<const std::int64_t> sizes) {
  const std::vector<std::int64_t>& dims = *model.dims;
  if (sizes.size() != dims.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0 && sizes[i] != dims[i]) return false;
    if (i >= model.dim_names.size() || model.dim_names[i].empty()) continue;
    const auto first =
        std::find(model.dim_names.begin(), model.dim_names.end(), model.dim_names[i]);
    if (sizes[i] != sizes[static_cast<std::size_t>(first - model.dim_names.begin())]) return false;
  }
  return true;
}

}  // namespace

std::vector<Model> BuiltInModels() {
  constexpr const char* kName = "thresholded_relu";
  std::vector<Model> models(1);
  models.front().name = kName;
  for (const DType dtype : kAllDTypes) {
    Model& model = models.emplace_back();
    const std::string type(OpenInferenceName(dtype));
    model.name = absl::StrCat(kName, "_", absl::AsciiStrToLower(type));
    model.dtype = dtype;
  }
  return models;
}

absl::StatusOr<DType> CheckDType(const Model& model, std::string_view datatype) {
  const std::optional<DType> dtype = DTypeFromOpenInferenceName(datatype);
  if (dtype && dtype == model.dtype.value_or(*dtype)) return *dtype;
  const std::string expected =
      model.dtype ? std::string(OpenInferenceName(*model.dtype)) : "FP16, BF16, FP32 or FP64";
  return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(model.input_name),
                                                 ": datatype = ", Quoted(datatype), ": model ",
                                                 Quoted(model.name), " expects ", expected));
}

absl::Status CheckShape(const Model& model, const Shape& shape) {
  if (!model.dims || Takes(model, shape.dims())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input ", Quoted(model.input_name), ": shape = ", Show(shape.dims()), ": model ",
                   Quoted(model.name), " expects ", Show(*model.dims, model.dim_names)));
}

}  // namespace trelu::server
