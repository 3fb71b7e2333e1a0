// ONNX model files that are ThresholdedRelu and nothing else, read as models.
#ifndef TRELU_SERVER_MODELS_ONNX_MODEL_H_
#define TRELU_SERVER_MODELS_ONNX_MODEL_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string_view>

#include "server/models/model.h"

namespace trelu::server {

// The largest file that is read. A chain of a thousand nodes has 60 KiB; parsed, a hostile file
// takes up to 70 times its bytes.
inline constexpr std::size_t kMaxOnnxModelBytes = std::size_t{1} << 20;

// The model of a whole file; name and version are for the caller to fill in. Any thread.
//
// Taken is every ONNX model (onnx.proto, ModelProto; ONNX's IR.md) with an opset_import of ai.onnx
// (also written "") in version 10 or later, 22 or later for bfloat16, whose graph leads one input
// through one or more ThresholdedRelu nodes to one output. Such a chain is one node with the
// largest alpha, or NaN if there is one. A node without alpha has 1.0. Sizes of input and output
// that are fixed, on either side, are fixed; others are -1. Initializers, which no node may use
// here, are ignored, and so are inputs of their names, value_info and everything that is said for
// people.
//
// INVALID_ARGUMENT, naming the field or the node, what it has and what was expected, for all other
// bytes.
absl::StatusOr<Model> ReadOnnxModel(std::string_view file);

}  // namespace trelu::server

#endif  // TRELU_SERVER_MODELS_ONNX_MODEL_H_
