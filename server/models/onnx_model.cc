#include "server/models/onnx_model.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/onnx_model.pb.h"
#include "server/log.h"
#include "server/tensor_request.h"
#include "trelu/shape.h"

namespace trelu::server {
namespace {

// The first IR version whose models say which operator sets they use.
constexpr std::int64_t kMinIrVersion = 3;
constexpr std::int64_t kMinOpset = 10;
constexpr std::int64_t kMinOpsetOfBFloat16 = 22;
constexpr std::int32_t kAttributeFloat = 1;  // AttributeProto.AttributeType.FLOAT

using Names = std::unordered_set<std::string_view>;

template <typename... Parts>
absl::Status Refused(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

bool IsOnnxDomain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

absl::StatusOr<std::int64_t> ReadOpset(const onnx::ModelProto& model) {
  std::optional<std::int64_t> opset;
  for (const onnx::OperatorSetIdProto& import : model.opset_import()) {
    if (!IsOnnxDomain(import.domain())) continue;
    if (opset.value_or(import.version()) != import.version()) {
      return Refused("opset_import of ai.onnx = ", *opset, " and ", import.version(),
                     ": expected one");
    }
    opset = import.version();
  }
  if (!opset) return Refused("opset_import of ai.onnx: missing");
  if (*opset < kMinOpset) {
    return Refused("opset_import of ai.onnx = ", *opset, ": expected ", kMinOpset,
                   " or more, which have ThresholdedRelu");
  }
  return *opset;
}

// Each request and answer spells them out.
absl::Status CheckName(const char* what, const std::string& name) {
  constexpr std::size_t kMaxNameBytes = 1024;
  if (name.size() <= kMaxNameBytes) return absl::OkStatus();
  return Refused(what, ": name of ", name.size(), " bytes: expected at most ", kMaxNameBytes);
}

// The one input that is not an initializer with a value of its own.
absl::StatusOr<const onnx::ValueInfoProto*> FindInput(const onnx::GraphProto& graph,
                                                      const Names& initializers) {
  const onnx::ValueInfoProto* found = nullptr;
  int count = 0;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (initializers.contains(input.name())) continue;
    found = &input;
    ++count;
  }
  if (count != 1) {
    return Refused("graph.input = ", count, " inputs that are not initializers: expected 1");
  }
  if (found->name().empty()) return Refused("graph.input: has no name");
  if (absl::Status name = CheckName("graph.input", found->name()); !name.ok()) return name;
  return found;
}

absl::StatusOr<DType> ReadDType(const onnx::ValueInfoProto& value, const std::string& what) {
  if (!value.type().has_tensor_type()) return Refused(what, ": type: expected a tensor");
  const std::int32_t number = value.type().tensor_type().elem_type();
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (!dtype) {
    return Refused(what, ": elem_type = ", number,
                   ": expected 1 (FLOAT), 10 (FLOAT16), 11 (DOUBLE) or 16 (BFLOAT16)");
  }
  return *dtype;
}

// Takes over what `value` says of its shape; what is known already must agree.
absl::Status MergeShape(const onnx::ValueInfoProto& value, const std::string& what, Model& model) {
  if (!value.type().tensor_type().has_shape()) return absl::OkStatus();
  const onnx::TensorShapeProto& shape = value.type().tensor_type().shape();
  const auto rank = static_cast<std::size_t>(shape.dim_size());
  if (rank > kMaxRank) return Refused(what, ": rank ", rank, ": expected at most ", kMaxRank);
  const bool first = !model.dims;
  if (first) {
    model.dims.emplace(rank, -1);
    model.dim_names.resize(rank);
  } else if (rank != model.dims->size()) {
    return Refused(what, ": rank ", rank, ": expected ", model.dims->size(), " as the input");
  }
  std::vector<std::string> names(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const onnx::TensorShapeProto::Dimension& dim = shape.dim(static_cast<int>(i));
    std::int64_t& known = (*model.dims)[i];
    names[i] = dim.dim_param();
    if (!dim.has_dim_value()) continue;
    if (dim.dim_value() < 0) {
      return Refused(what, ": shape[", i, "] = ", dim.dim_value(),
                     ": expected >= 0, or a dim_param or nothing for any size");
    }
    if (known >= 0 && known != dim.dim_value()) {
      return Refused(what, ": shape[", i, "] = ", dim.dim_value(), ": expected ", known,
                     " as the input");
    }
    known = dim.dim_value();
  }
  for (std::size_t i = 0; i < rank; ++i) {
    std::string& known = model.dim_names[i];
    if (known.empty()) {
      known = names[i];
    } else if (!names[i].empty() && names[i] != known) {
      // Two names of one number.
      const std::string other = names[i];
      std::replace(names.begin(), names.end(), other, known);
      std::replace(model.dim_names.begin(), model.dim_names.end(), other, known);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<float> ReadAlpha(const onnx::NodeProto& node, const std::string& what) {
  std::optional<float> alpha;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != "alpha") {
      return Refused(what, ": attribute ", Quoted(attribute.name()), ": expected alpha alone");
    }
    if (alpha) return Refused(what, ": attribute alpha: expected once");
    if (!attribute.ref_attr_name().empty()) {
      return Refused(what, ": attribute alpha: refers to ", Quoted(attribute.ref_attr_name()),
                     ": expected a value");
    }
    if (attribute.type() != kAttributeFloat) {
      return Refused(what, ": attribute alpha: type = ", attribute.type(), ": expected ",
                     kAttributeFloat, " (FLOAT)");
    }
    alpha = attribute.f();
  }
  return alpha.value_or(kDefaultAlpha);
}

// The alpha of the one node that equals the graph's chain of nodes from `input` to its output.
//
// Why that is so, with a <= b the cast alphas of two neighbours in either order: x > b passes both.
// Everything else, NaN included, is +0 behind one of them, and +0 stays or becomes +0 whatever the
// sign of the other's alpha. Casting keeps the order, so that the largest float32 is the largest
// once cast. And where an alpha is NaN, all are +0.
absl::StatusOr<float> ReadChain(const onnx::GraphProto& graph, const std::string& input,
                                Names defined) {
  defined.insert(input);
  const std::string* value = &input;
  std::optional<float> largest;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    const std::string what = absl::StrCat("node ", i, " ", Quoted(node.name()));
    if (node.op_type() != "ThresholdedRelu" || !IsOnnxDomain(node.domain())) {
      return Refused(what, ": operator ", Quoted(node.op_type()), " of domain ",
                     Quoted(node.domain()), ": expected ThresholdedRelu of ai.onnx");
    }
    if (node.input_size() != 1 || node.output_size() != 1) {
      return Refused(what, ": ", node.input_size(), " inputs and ", node.output_size(),
                     " outputs: expected 1 of each");
    }
    if (node.input(0) != *value) {
      return Refused(what, ": input ", Quoted(node.input(0)), ": expected ", Quoted(*value),
                     i == 0 ? ", the graph's input" : ", the output of the node before");
    }
    if (node.output(0).empty() || !defined.insert(node.output(0)).second) {
      return Refused(what, ": output ", Quoted(node.output(0)), ": expected a name of its own");
    }
    const absl::StatusOr<float> alpha = ReadAlpha(node, what);
    if (!alpha.ok()) return alpha.status();
    // No number is above a NaN, which therefore stays.
    if (!largest || std::isnan(*alpha) || *alpha > *largest) largest = *alpha;
    value = &node.output(0);
  }
  if (!largest) return Refused("graph.node: expected at least one");
  if (graph.output(0).name() != *value) {
    return Refused("graph.output ", Quoted(graph.output(0).name()), ": expected ", Quoted(*value),
                   ", the output of the last node");
  }
  return *largest;
}

}  // namespace

absl::StatusOr<Model> ReadOnnxModel(std::string_view file) {
  if (file.size() > kMaxOnnxModelBytes) {
    return Refused("file = ", file.size(), " bytes: expected at most ", kMaxOnnxModelBytes);
  }
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(file.data(), static_cast<int>(file.size()))) {
    return Refused("not an ONNX model: protobuf cannot parse it");
  }
  if (proto.ir_version() < kMinIrVersion) {
    return Refused("ir_version = ", proto.ir_version(), ": expected ", kMinIrVersion, " or more");
  }
  const absl::StatusOr<std::int64_t> opset = ReadOpset(proto);
  if (!opset.ok()) return opset.status();
  if (proto.functions_size() > 0) {
    return Refused("functions = ", proto.functions_size(), ": expected none");
  }

  const onnx::GraphProto& graph = proto.graph();
  Names initializers;
  for (const onnx::Initializer& initializer : graph.initializer()) {
    initializers.insert(initializer.name());
  }
  const absl::StatusOr<const onnx::ValueInfoProto*> input = FindInput(graph, initializers);
  if (!input.ok()) return input.status();
  if (graph.output_size() != 1) {
    return Refused("graph.output = ", graph.output_size(), " outputs: expected 1");
  }
  const onnx::ValueInfoProto& output = graph.output(0);
  if (absl::Status name = CheckName("graph.output", output.name()); !name.ok()) return name;
  const absl::StatusOr<float> alpha = ReadChain(graph, (*input)->name(), std::move(initializers));
  if (!alpha.ok()) return alpha.status();

  const std::string input_is = absl::StrCat("input ", Quoted((*input)->name()));
  const std::string output_is = absl::StrCat("output ", Quoted(output.name()));
  const absl::StatusOr<DType> dtype = ReadDType(**input, input_is);
  if (!dtype.ok()) return dtype.status();
  const absl::StatusOr<DType> output_dtype = ReadDType(output, output_is);
  if (!output_dtype.ok()) return output_dtype.status();
  if (*dtype != *output_dtype) {
    return Refused(output_is, ": elem_type = ", static_cast<std::int32_t>(*output_dtype),
                   ": expected ", static_cast<std::int32_t>(*dtype), " as the input");
  }
  if (*dtype == DType::kBFloat16 && *opset < kMinOpsetOfBFloat16) {
    return Refused(input_is, ": elem_type = 16 (BFLOAT16) with opset_import ", *opset,
                   ": expected ", kMinOpsetOfBFloat16, " or more");
  }

  Model model;
  model.platform = "onnx_onnxv1";
  model.input_name = (*input)->name();
  model.output_name = output.name();
  model.dtype = *dtype;
  model.alpha = *alpha;
  if (absl::Status merged = MergeShape(**input, input_is, model); !merged.ok()) return merged;
  if (absl::Status merged = MergeShape(output, output_is, model); !merged.ok()) return merged;
  return model;
}

}  // namespace trelu::server
