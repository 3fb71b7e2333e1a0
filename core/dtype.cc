#include "trelu/dtype.h"

namespace trelu {

std::string_view Name(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
  }
  return "unknown";
}

std::optional<DType> DTypeFromOnnx(std::int32_t number) {
  for (DType dtype : kAllDTypes) {
    if (static_cast<std::int32_t>(dtype) == number) return dtype;
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromName(std::string_view name) {
  for (DType dtype : kAllDTypes) {
    if (Name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace trelu
