// ONNX models for tests, as messages to be bent and as the bytes of a file.
#ifndef TRELU_TESTS_SERVER_ONNX_MODELS_H_
#define TRELU_TESTS_SERVER_ONNX_MODELS_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/onnx_model.pb.h"
#include "trelu/dtype.h"

namespace trelu::testing {

inline void AddValue(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>* values,
                     const std::string& name, DType dtype) {
  onnx::ValueInfoProto& value = *values->Add();
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<std::int32_t>(dtype));
}

// A chain of one node for each alpha, from "X" by way of "T0", "T1"... to "Y", any shape.
inline onnx::ModelProto ChainModel(const std::vector<float>& alphas,
                                   DType dtype = DType::kFloat32) {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(22);
  AddValue(model.mutable_graph()->mutable_input(), "X", dtype);
  AddValue(model.mutable_graph()->mutable_output(), "Y", dtype);
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_name("relu" + std::to_string(i));
    node.set_op_type("ThresholdedRelu");
    node.add_input(i == 0 ? "X" : "T" + std::to_string(i - 1));
    node.add_output(i + 1 == alphas.size() ? "Y" : "T" + std::to_string(i));
    onnx::AttributeProto& alpha = *node.add_attribute();
    alpha.set_name("alpha");
    alpha.set_type(1);
    alpha.set_f(alphas[i]);
  }
  return model;
}

// A dimension: a size, a name, or "" for neither.
struct Dim {
  template <std::integral Size>
  Dim(Size size) : size(size) {}         // NOLINT: lists of both read like shapes
  Dim(const char* name) : name(name) {}  // NOLINT
  std::int64_t size = -1;
  const char* name = nullptr;
};

inline void SetShape(onnx::ValueInfoProto* value, const std::vector<Dim>& dims) {
  onnx::TensorShapeProto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->Clear();
  for (const Dim& dim : dims) {
    onnx::TensorShapeProto::Dimension* added = shape->add_dim();
    if (dim.name == nullptr) {
      added->set_dim_value(dim.size);
    } else if (*dim.name != '\0') {
      added->set_dim_param(dim.name);
    }
  }
}

// Parts of a ChainModel.
inline onnx::NodeProto& Node(onnx::ModelProto& model, int i = 0) {
  return *model.mutable_graph()->mutable_node(i);
}
inline onnx::AttributeProto& Alpha(onnx::ModelProto& model) {
  return *Node(model).mutable_attribute(0);
}
inline onnx::ValueInfoProto* Input(onnx::ModelProto& model) {
  return model.mutable_graph()->mutable_input(0);
}
inline onnx::ValueInfoProto* Output(onnx::ModelProto& model) {
  return model.mutable_graph()->mutable_output(0);
}
inline void AddOpset(onnx::ModelProto& model, const char* domain, std::int64_t version) {
  onnx::OperatorSetIdProto& import = *model.add_opset_import();
  import.set_domain(domain);
  import.set_version(version);
}
inline void SetDType(onnx::ModelProto& model, int number) {
  Input(model)->mutable_type()->mutable_tensor_type()->set_elem_type(number);
  Output(model)->mutable_type()->mutable_tensor_type()->set_elem_type(number);
}
}  // namespace trelu::testing

#endif  // TRELU_TESTS_SERVER_ONNX_MODELS_H_
