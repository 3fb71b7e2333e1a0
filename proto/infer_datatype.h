// The Open Inference protocol's names of the tensor types.
#ifndef TRELU_PROTO_INFER_DATATYPE_H_
#define TRELU_PROTO_INFER_DATATYPE_H_

#include <optional>
#include <string_view>

#include "trelu/dtype.h"

namespace trelu {

// "FP16", "BF16", "FP32" or "FP64" (Open Inference protocol, Tensor Data Types; BF16 is Triton's).
std::string_view OpenInferenceName(DType dtype);
// The dtype of one of these names, spelt exactly.
std::optional<DType> DTypeFromOpenInferenceName(std::string_view name);

}  // namespace trelu

#endif  // TRELU_PROTO_INFER_DATATYPE_H_
