// Which ONNX files are models of ours, and what they say.
#include "server/models/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/server/onnx_models.h"

namespace trelu::server {
namespace {

using testing::AddOpset;
using testing::Alpha;
using testing::ChainModel;
using testing::Dim;
using ::testing::ElementsAre;
using testing::Input;
using ::testing::IsEmpty;
using testing::Node;
using testing::Output;
using testing::SetDType;
using testing::SetShape;

absl::StatusOr<Model> Read(const onnx::ModelProto& model) {
  return ReadOnnxModel(model.SerializeAsString());
}

TEST(OnnxModel, SaysWhatTheFileSays) {
  onnx::ModelProto proto = ChainModel({0.5F}, DType::kFloat16);
  SetShape(proto.mutable_graph()->mutable_input(0), {"N", 3, ""});
  const auto model = Read(proto);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->platform, "onnx_onnxv1");
  EXPECT_EQ(model->input_name, "X");
  EXPECT_EQ(model->output_name, "Y");
  EXPECT_EQ(model->dtype, DType::kFloat16);
  EXPECT_EQ(model->alpha, 0.5F);
  ASSERT_TRUE(model->dims);
  EXPECT_THAT(*model->dims, ElementsAre(-1, 3, -1));
  EXPECT_THAT(model->dim_names, ElementsAre("N", "", ""));
}

// What may be in a model of ours besides the plainest.
struct Taken {
  const char* name;
  std::function<void(onnx::ModelProto&)> bend;
  float alpha = 0.5F;
};

std::vector<Taken> TakenModels() {
  return {
      {"Plain", [](auto&) {}},
      {"NoAlpha", [](auto& m) { Node(m).clear_attribute(); }, 1.0F},
      {"AlphaWithoutValue", [](auto& m) { Alpha(m).clear_f(); }, 0.0F},
      {"OldestOpset", [](auto& m) { m.mutable_opset_import(0)->set_version(10); }},
      {"OldestIr", [](auto& m) { m.set_ir_version(3); }},
      {"DomainSpelledOutInImport",
       [](auto& m) { m.mutable_opset_import(0)->set_domain("ai.onnx"); }},
      {"DomainSpelledOutInNode", [](auto& m) { Node(m).set_domain("ai.onnx"); }},
      {"SameOpsetTwice", [](auto& m) { AddOpset(m, "ai.onnx", 22); }},
      {"OtherDomainsToo", [](auto& m) { AddOpset(m, "com.example", 1); }},
      {"BFloat16", [](auto& m) { SetDType(m, 16); }},
      {"Float64InOldestOpset",
       [](auto& m) {
         SetDType(m, 11);
         m.mutable_opset_import(0)->set_version(10);
       }},
      {"UnusedInitializer",
       [](auto& m) { m.mutable_graph()->add_initializer()->set_name("weight"); }},
      {"InitializerThatIsAnInput",
       [](auto& m) {
         m.mutable_graph()->add_initializer()->set_name("weight");
         testing::AddValue(m.mutable_graph()->mutable_input(), "weight", DType::kFloat32);
       }},
      {"NodeWithoutName", [](auto& m) { Node(m).clear_name(); }},
      {"Chain",
       [](auto& m) {
         m = ChainModel({0.25F, 0.5F, -1.0F});
       }},
  };
}

class OnnxModelTaken : public ::testing::TestWithParam<Taken> {};

TEST_P(OnnxModelTaken, WithItsAlpha) {
  onnx::ModelProto proto = ChainModel({0.5F});
  GetParam().bend(proto);
  const auto model = Read(proto);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->alpha, GetParam().alpha);
  EXPECT_FALSE(model->dims);
  EXPECT_THAT(model->dim_names, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, OnnxModelTaken, ::testing::ValuesIn(TakenModels()),
                         [](const auto& tested) { return tested.param.name; });

struct Shapes {
  const char* name;
  std::vector<Dim> input;
  std::vector<Dim> output;
  std::vector<std::int64_t> dims;
  std::vector<std::string> names;
};

class OnnxModelShapes : public ::testing::TestWithParam<Shapes> {};

TEST_P(OnnxModelShapes, AreMerged) {
  onnx::ModelProto proto = ChainModel({0.5F});
  SetShape(Input(proto), GetParam().input);
  SetShape(Output(proto), GetParam().output);
  const auto model = Read(proto);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->dims, GetParam().dims);
  EXPECT_EQ(model->dim_names, GetParam().names);
}

INSTANTIATE_TEST_SUITE_P(All, OnnxModelShapes,
                         ::testing::ValuesIn(std::vector<Shapes>{
                             {"Scalar", {}, {}, {}, {}},
                             {"Fixed", {2, 0}, {2, 0}, {2, 0}, {"", ""}},
                             {"Names", {"N", "N"}, {"N", "N"}, {-1, -1}, {"N", "N"}},
                             {"OutputNamedOtherwise", {"N", 3}, {"M", 3}, {-1, 3}, {"N", ""}},
                             {"OutputSaysMore", {"N", ""}, {"N", 4}, {-1, 4}, {"N", ""}},
                             {"InputSaysMore", {2, 3}, {"", ""}, {2, 3}, {"", ""}},
                             {"OnlyTheOutputNames", {"", ""}, {"N", "N"}, {-1, -1}, {"N", "N"}},
                             {"OutputNamesASize", {"N", 3}, {"M", "M"}, {-1, 3}, {"N", "N"}},
                             {"OutputJoinsNames",
                              {"A", "B", "C", "B"},
                              {"N", "N", "M", "M"},
                              {-1, -1, -1, -1},
                              {"B", "B", "B", "B"}},
                         }),
                         [](const auto& tested) { return tested.param.name; });

TEST(OnnxModel, TakesTheOutputsShapeWhereTheInputHasNone) {
  onnx::ModelProto proto = ChainModel({0.5F});
  SetShape(Output(proto), {"N", 3});
  const auto model = Read(proto);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(model->dims);
  EXPECT_THAT(*model->dims, ElementsAre(-1, 3));
  EXPECT_THAT(model->dim_names, ElementsAre("N", ""));
}

TEST(OnnxModel, TakesTheHighestRank) {
  onnx::ModelProto proto = ChainModel({0.5F});
  SetShape(Input(proto), std::vector<Dim>(kMaxRank, 1));
  EXPECT_TRUE(Read(proto).ok());
}

}  // namespace
}  // namespace trelu::server
