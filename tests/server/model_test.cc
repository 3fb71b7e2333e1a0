// What models take, what they say of what they do not take, and the built-in ones.
#include "server/models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/infer_datatype.h"

namespace trelu::server {
namespace {

using ::testing::ElementsAre;

TEST(BuiltInModels, AreOneOfAllDTypesAndOneOfEach) {
  std::vector<std::string> names;
  for (const Model& model : BuiltInModels()) {
    names.push_back(model.name);
    EXPECT_EQ(model.version, 1);
    EXPECT_EQ(model.platform, "trelu");
    EXPECT_EQ(model.input_name, "X");
    EXPECT_EQ(model.output_name, "Y");
    EXPECT_FALSE(model.dims);
    EXPECT_FALSE(model.alpha);
    EXPECT_NE(model.statistics, nullptr);
  }
  EXPECT_THAT(names,
              ElementsAre("thresholded_relu", "thresholded_relu_fp16", "thresholded_relu_bf16",
                          "thresholded_relu_fp32", "thresholded_relu_fp64"));
  EXPECT_FALSE(BuiltInModels()[0].dtype);
  EXPECT_EQ(BuiltInModels()[2].dtype, DType::kBFloat16);
  EXPECT_NE(BuiltInModels()[0].statistics, BuiltInModels()[0].statistics);
}

Model Named(std::string name) {
  Model model;
  model.name = std::move(name);
  return model;
}

TEST(CheckDType, TakesEveryDTypeWhereTheModelHasNone) {
  const Model model = Named("any");
  for (const DType dtype : kAllDTypes) {
    const auto checked = CheckDType(model, OpenInferenceName(dtype));
    ASSERT_TRUE(checked.ok()) << checked.status();
    EXPECT_EQ(*checked, dtype);
  }
  EXPECT_EQ(CheckDType(model, "INT32").status(),
            absl::InvalidArgumentError("input 'X': datatype = 'INT32': model 'any' expects "
                                       "FP16, BF16, FP32 or FP64"));
}

TEST(CheckDType, TakesTheModelsOwnAlone) {
  Model model = Named("half");
  model.dtype = DType::kFloat16;
  ASSERT_TRUE(CheckDType(model, "FP16").ok());
  EXPECT_EQ(*CheckDType(model, "FP16"), DType::kFloat16);
  EXPECT_EQ(CheckDType(model, "FP32").status(),
            absl::InvalidArgumentError("input 'X': datatype = 'FP32': model 'half' expects FP16"));
}

TEST(CheckDType, SaysHostileTextEscapedAndCut) {
  const std::string message(CheckDType(Named("any"), std::string(5000, '\x01')).status().message());
  EXPECT_LT(message.size(), 300U);
  EXPECT_EQ(message.find('\x01'), std::string::npos);
}

struct ShapeCase {
  const char* name;
  std::vector<std::int64_t> dims;
  std::vector<std::string> names;
  std::vector<std::int64_t> request;
  const char* expected;  // as the message shows it; null: taken
};

class CheckShapeOf : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(CheckShapeOf, Request) {
  Model model = Named("m");
  model.dims = GetParam().dims;
  model.dim_names = GetParam().names;
  const absl::Status checked = CheckShape(model, *Shape::Create(GetParam().request));
  if (GetParam().expected == nullptr) {
    EXPECT_TRUE(checked.ok()) << checked;
    return;
  }
  EXPECT_EQ(checked.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(checked.message()),
              ::testing::AllOf(
                  ::testing::StartsWith("input 'X': shape = ["),
                  ::testing::EndsWith(std::string(": model 'm' expects ") + GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckShapeOf,
    ::testing::ValuesIn(std::vector<ShapeCase>{
        {"Scalar", {}, {}, {}, nullptr},
        {"ScalarGotOne", {}, {}, {1}, "[]"},
        {"Fixed", {2, 3}, {}, {2, 3}, nullptr},
        {"FixedGotOther", {2, 3}, {}, {2, 4}, "[2, 3]"},
        {"FixedGotFewer", {2, 3}, {}, {2}, "[2, 3]"},
        {"FixedGotMore", {2, 3}, {}, {2, 3, 1}, "[2, 3]"},
        {"FixedZero", {0}, {}, {0}, nullptr},
        {"FixedZeroGotOne", {0}, {}, {1}, "[0]"},
        {"AnySize", {-1, 3}, {}, {7, 3}, nullptr},
        {"AnySizeGotNone", {-1, 3}, {}, {0, 3}, nullptr},
        {"AnySizeThenWrong", {-1, 3}, {}, {7, 7}, "[-1, 3]"},
        {"OneName", {-1, 3}, {"N", ""}, {7, 3}, nullptr},
        {"SameName", {-1, 3, -1}, {"N", "", "N"}, {7, 3, 7}, nullptr},
        {"SameNameGotTwo", {-1, 3, -1}, {"N", "", "N"}, {7, 3, 8}, "[N, 3, N]"},
        {"SameNameOneFixed", {2, -1}, {"N", "N"}, {2, 3}, "[2, N]"},
        {"OtherNames", {-1, -1}, {"N", "M"}, {7, 8}, nullptr},
        {"NoNames", {-1, -1}, {"", ""}, {7, 8}, nullptr},
        {"ManyDimensions", {1, 2, 3, 4, 5, 6, 7, 8, 9}, {}, {1}, "[1, 2, 3, 4, 5, 6, 7, 8, ...]"},
    }),
    [](const auto& tested) { return tested.param.name; });

TEST(CheckShape, TakesEveryShapeWhereTheModelHasNone) {
  for (const std::vector<std::int64_t>& dims :
       std::vector<std::vector<std::int64_t>>{{}, {0}, {1, 2, 3}}) {
    EXPECT_TRUE(CheckShape(Named("any"), *Shape::Create(dims)).ok());
  }
}

}  // namespace
}  // namespace trelu::server
