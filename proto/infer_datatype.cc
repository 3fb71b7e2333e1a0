#include "proto/infer_datatype.h"

namespace trelu {

std::string_view OpenInferenceName(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "FP16";
    case DType::kBFloat16:
      return "BF16";
    case DType::kFloat32:
      return "FP32";
    case DType::kFloat64:
      return "FP64";
  }
  return "unknown";
}

std::optional<DType> DTypeFromOpenInferenceName(std::string_view name) {
  for (const DType dtype : kAllDTypes) {
    if (OpenInferenceName(dtype) == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace trelu
