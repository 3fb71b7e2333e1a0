// What is wrong with the ONNX files that are no models of ours, hostile ones among them.
#include "server/models/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "server/log.h"
#include "tests/server/onnx_models.h"

namespace trelu::server {
namespace {

using testing::AddOpset;
using testing::Alpha;
using testing::ChainModel;
using testing::Dim;
using ::testing::HasSubstr;
using testing::Input;
using testing::Node;
using testing::Output;
using testing::SetDType;
using testing::SetShape;

absl::StatusOr<Model> Read(const onnx::ModelProto& model) {
  return ReadOnnxModel(model.SerializeAsString());
}

// Renames what the last node writes and the graph returns.
void SetOutputName(onnx::ModelProto& model, const std::string& name) {
  Output(model)->set_name(name);
  Node(model, model.graph().node_size() - 1).set_output(0, name);
}

// A chain of two, bent so that it is none of ours.
struct Refusal {
  const char* name;
  std::function<void(onnx::ModelProto&)> bend;
  const char* error;
};

std::vector<Refusal> Refusals() {
  return {
      {"NoIrVersion", [](auto& m) { m.clear_ir_version(); }, "ir_version = 0: expected 3"},
      {"OldIrVersion", [](auto& m) { m.set_ir_version(2); }, "ir_version = 2"},
      {"NoOpset", [](auto& m) { m.clear_opset_import(); }, "opset_import of ai.onnx: missing"},
      {"OnlyAnotherDomain", [](auto& m) { m.mutable_opset_import(0)->set_domain("ai.onnx.ml"); },
       "opset_import of ai.onnx: missing"},
      {"OldOpset", [](auto& m) { m.mutable_opset_import(0)->set_version(9); },
       "opset_import of ai.onnx = 9: expected 10 or more"},
      {"TwoOpsets", [](auto& m) { AddOpset(m, "ai.onnx", 21); },
       "opset_import of ai.onnx = 22 and 21: expected one"},
      {"Function", [](auto& m) { m.add_functions(); }, "functions = 1: expected none"},
      {"NoGraph", [](auto& m) { m.clear_graph(); }, "graph.input = 0 inputs"},
      {"NoInput", [](auto& m) { m.mutable_graph()->clear_input(); }, "graph.input = 0 inputs"},
      {"TwoInputs", [](auto& m) { *m.mutable_graph()->add_input() = m.graph().input(0); },
       "graph.input = 2 inputs that are not initializers: expected 1"},
      {"InputIsAnInitializer", [](auto& m) { m.mutable_graph()->add_initializer()->set_name("X"); },
       "graph.input = 0 inputs that are not initializers"},
      {"InputWithoutName",
       [](auto& m) {
         Input(m)->clear_name();
         Node(m).set_input(0, "");
       },
       "graph.input: has no name"},
      {"NoOutput", [](auto& m) { m.mutable_graph()->clear_output(); }, "graph.output = 0 outputs"},
      {"TwoOutputs", [](auto& m) { *m.mutable_graph()->add_output() = m.graph().output(0); },
       "graph.output = 2 outputs: expected 1"},
      {"NoNode", [](auto& m) { m.mutable_graph()->clear_node(); },
       "graph.node: expected at least one"},
      {"OtherOperator", [](auto& m) { Node(m, 1).set_op_type("LeakyRelu"); },
       "node 1 'relu1': operator 'LeakyRelu' of domain '': expected ThresholdedRelu"},
      {"OtherDomain", [](auto& m) { Node(m).set_domain("com.example"); },
       "node 0 'relu0': operator 'ThresholdedRelu' of domain 'com.example'"},
      {"NoInputOfNode", [](auto& m) { Node(m).clear_input(); },
       "node 0 'relu0': 0 inputs and 1 outputs: expected 1 of each"},
      {"TwoInputsOfNode", [](auto& m) { Node(m).add_input("X"); }, "node 0 'relu0': 2 inputs"},
      {"TwoOutputsOfNode", [](auto& m) { Node(m).add_output("Z"); }, "1 inputs and 2 outputs"},
      {"NodesNotInOrder", [](auto& m) { m.mutable_graph()->mutable_node()->SwapElements(0, 1); },
       "node 0 'relu1': input 'T0': expected 'X', the graph's input"},
      {"Fork", [](auto& m) { Node(m, 1).set_input(0, "X"); },
       "node 1 'relu1': input 'X': expected 'T0', the output of the node before"},
      {"NodeReadsAnInitializer",
       [](auto& m) {
         m.mutable_graph()->add_initializer()->set_name("weight");
         Node(m).set_input(0, "weight");
       },
       "node 0 'relu0': input 'weight': expected 'X'"},
      {"NodeWritesTheInput", [](auto& m) { Node(m, 1).set_output(0, "X"); },
       "node 1 'relu1': output 'X': expected a name of its own"},
      {"NodeWritesAnInitializer",
       [](auto& m) { m.mutable_graph()->add_initializer()->set_name("T0"); },
       "node 0 'relu0': output 'T0': expected a name of its own"},
      {"NodeWritesTwice", [](auto& m) { Node(m, 1).set_output(0, "T0"); },
       "node 1 'relu1': output 'T0': expected a name of its own"},
      {"NodeWithoutOutputName", [](auto& m) { SetOutputName(m, ""); },
       "node 1 'relu1': output '': expected a name of its own"},
      {"OutputOfTheMiddle", [](auto& m) { Output(m)->set_name("T0"); },
       "graph.output 'T0': expected 'Y', the output of the last node"},
      {"UnknownAttribute", [](auto& m) { Alpha(m).set_name("beta"); },
       "node 0 'relu0': attribute 'beta': expected alpha alone"},
      {"AlphaTwice", [](auto& m) { *Node(m).add_attribute() = m.graph().node(0).attribute(0); },
       "node 0 'relu0': attribute alpha: expected once"},
      {"AlphaIsAReference", [](auto& m) { Alpha(m).set_ref_attr_name("outer"); },
       "attribute alpha: refers to 'outer': expected a value"},
      {"AlphaIsAnInt", [](auto& m) { Alpha(m).set_type(2); },
       "alpha: type = 2: expected 1 (FLOAT)"},
      {"AlphaIsAGraph", [](auto& m) { Alpha(m).set_type(5); }, "alpha: type = 5: expected 1"},
      {"AlphaWithoutType", [](auto& m) { Alpha(m).clear_type(); }, "alpha: type = 0: expected 1"},
      {"InputWithoutType", [](auto& m) { Input(m)->clear_type(); }, "input 'X': type: expected"},
      {"OutputWithoutType", [](auto& m) { Output(m)->clear_type(); },
       "output 'Y': type: expected a tensor"},
      {"Int32", [](auto& m) { SetDType(m, 6); }, "input 'X': elem_type = 6: expected 1 (FLOAT)"},
      {"NoElementType", [](auto& m) { SetDType(m, 0); }, "input 'X': elem_type = 0"},
      {"TwoElementTypes",
       [](auto& m) { Output(m)->mutable_type()->mutable_tensor_type()->set_elem_type(11); },
       "output 'Y': elem_type = 11: expected 1 as the input"},
      {"BFloat16TooEarly",
       [](auto& m) {
         SetDType(m, 16);
         m.mutable_opset_import(0)->set_version(21);
       },
       "elem_type = 16 (BFLOAT16) with opset_import 21: expected 22 or more"},
      {"NegativeSize",
       [](auto& m) {
         SetShape(Input(m), {3, -1});
       },
       "input 'X': shape[1] = -1: expected >= 0"},
      {"NegativeSizeOfOutput", [](auto& m) { SetShape(Output(m), {-7}); },
       "output 'Y': shape[0] = -7: expected >= 0"},
      {"TooManyDimensions", [](auto& m) { SetShape(Input(m), std::vector<Dim>(kMaxRank + 1, 1)); },
       "input 'X': rank 65: expected at most 64"},
      {"EndlessName", [](auto& m) { Input(m)->set_name(std::string(1025, 'x')); },
       "graph.input: name of 1025 bytes: expected at most 1024"},
      {"EndlessNameOfOutput", [](auto& m) { Output(m)->set_name(std::string(1025, 'y')); },
       "graph.output: name of 1025 bytes: expected at most 1024"},
      {"OtherRank",
       [](auto& m) {
         SetShape(Input(m), {"N"});
         SetShape(Output(m), {"N", 1});
       },
       "output 'Y': rank 2: expected 1 as the input"},
      {"OtherSize",
       [](auto& m) {
         SetShape(Input(m), {"N", 3});
         SetShape(Output(m), {"N", 4});
       },
       "output 'Y': shape[1] = 4: expected 3 as the input"},
  };
}

class OnnxModelRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(OnnxModelRefusal, NamesWhereAndWhy) {
  onnx::ModelProto proto = ChainModel({0.25F, 0.5F});
  GetParam().bend(proto);
  const absl::Status refused = Read(proto).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(All, OnnxModelRefusal, ::testing::ValuesIn(Refusals()),
                         [](const auto& tested) { return tested.param.name; });

TEST(OnnxModel, RefusesNamesThatNoMessageCouldCarry) {
  std::string bytes = ChainModel({0.5F}).SerializeAsString();
  for (std::size_t at = bytes.find('X'); at != std::string::npos; at = bytes.find('X', at)) {
    bytes[at] = '\xff';
  }
  EXPECT_THAT(std::string(ReadOnnxModel(bytes).status().message()), HasSubstr("cannot parse"));
}

TEST(OnnxModel, SaysHostileTextEscapedAndCut) {
  onnx::ModelProto proto = ChainModel({0.5F});
  Node(proto).set_op_type(std::string(10000, '\n'));
  const std::string message(Read(proto).status().message());
  EXPECT_THAT(message, HasSubstr("\\x0a"));
  EXPECT_LT(message.size(), 300U);
}

TEST(OnnxModel, RefusesLargeFilesUnread) {
  onnx::ModelProto proto = ChainModel({0.5F});
  const std::size_t rest = proto.SerializeAsString().size();
  proto.mutable_graph()->add_initializer()->set_name(std::string(kMaxOnnxModelBytes - rest, 'x'));
  const std::string too_large = proto.SerializeAsString();
  ASSERT_GT(too_large.size(), kMaxOnnxModelBytes);
  EXPECT_THAT(std::string(ReadOnnxModel(too_large).status().message()),
              HasSubstr("bytes: expected at most 1048576"));
  const std::size_t over = too_large.size() - kMaxOnnxModelBytes;
  proto.mutable_graph()->mutable_initializer(0)->mutable_name()->resize(kMaxOnnxModelBytes - rest -
                                                                        over);
  ASSERT_EQ(proto.SerializeAsString().size(), kMaxOnnxModelBytes);
  EXPECT_TRUE(Read(proto).ok());
}

TEST(OnnxModel, SurvivesEveryCutAndManyDamages) {
  onnx::ModelProto proto = ChainModel({0.25F, 0.5F});
  SetShape(Input(proto), {"N", 3});
  const std::string whole = proto.SerializeAsString();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(ReadOnnxModel(whole.substr(0, bytes)).ok()) << bytes;
  }
  InitLog(LogFormat::kText);  // which holds back most of what protobuf says of each bad name
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (unsigned times = 0; times <= i % 4U; ++times) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto model = ReadOnnxModel(damaged);
    EXPECT_LT(model.status().message().size(), 512U);
  }
}

}  // namespace
}  // namespace trelu::server
