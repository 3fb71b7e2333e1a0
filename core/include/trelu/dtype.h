// The element types that the operator knows.
#ifndef TRELU_DTYPE_H_
#define TRELU_DTYPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trelu {

// Element types, numbered as ONNX numbers them (onnx.proto, TensorProto.DataType).
enum class DType : std::int32_t { kFloat32 = 1, kFloat16 = 10, kFloat64 = 11, kBFloat16 = 16 };

inline constexpr std::array kAllDTypes = {DType::kFloat16, DType::kBFloat16, DType::kFloat32,
                                          DType::kFloat64};

// Bytes of one element: 2, 4 or 8.
constexpr std::size_t ElementBytes(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kFloat32:
      return 4;
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

// "float16", "bfloat16", "float32" or "float64".
std::string_view Name(DType dtype);

// The dtype of ONNX's number; nothing for a number that the operator does not take.
std::optional<DType> DTypeFromOnnx(std::int32_t number);

// The dtype of one of the names above, spelt exactly.
std::optional<DType> DTypeFromName(std::string_view name);

}  // namespace trelu

#endif  // TRELU_DTYPE_H_
