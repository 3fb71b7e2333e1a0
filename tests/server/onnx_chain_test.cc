// A chain of nodes is one node, on every value that could tell them apart.
#include "server/models/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/server/onnx_models.h"

namespace trelu::server {
namespace {

using testing::ChainModel;

absl::StatusOr<Model> Read(const onnx::ModelProto& model) {
  return ReadOnnxModel(model.SerializeAsString());
}

// Alphas that are special in one of the types, and their neighbours.
std::vector<float> SpecialAlphas() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> alphas;
  for (const float positive :
       {0.0F, Limits::denorm_min(), 6e-8F, Limits::min(), 0.1F, 1.0F, 65504.0F, 65520.0F,
        Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    alphas.push_back(positive);
    alphas.push_back(-positive);
  }
  return alphas;
}

// All bit patterns of 16-bit types; of wider ones all beginnings of 12 bits with both ends, and the
// alphas themselves.
std::vector<std::byte> Inputs(DType dtype) {
  std::vector<std::byte> inputs;
  const auto add = [&](std::uint64_t bits) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
    inputs.insert(inputs.end(), bytes, bytes + ElementBytes(dtype));
  };
  if (ElementBytes(dtype) == 2) {
    for (std::uint64_t pattern = 0; pattern < 65536; ++pattern) add(pattern);
    return inputs;
  }
  const std::size_t end_bits = 8 * ElementBytes(dtype) - 12;
  for (std::uint64_t beginning = 0; beginning < 4096; ++beginning) {
    add(beginning << end_bits);
    add((beginning << end_bits) + 1);
    add(((beginning + 1) << end_bits) - 1);
  }
  for (const float alpha : SpecialAlphas()) {
    if (dtype == DType::kFloat32) add(std::bit_cast<std::uint32_t>(alpha));
    if (dtype == DType::kFloat64) add(std::bit_cast<std::uint64_t>(double{alpha}));
  }
  return inputs;
}

class OnnxChain : public ::testing::TestWithParam<DType> {};

TEST_P(OnnxChain, EqualsItsNodesOneAfterTheOther) {
  const std::vector<std::byte> inputs = Inputs(GetParam());
  std::vector<std::byte> first(inputs.size());
  std::vector<std::byte> by_nodes(inputs.size());
  std::vector<std::byte> by_model(inputs.size());
  for (const float a : SpecialAlphas()) {
    ThresholdedRelu(GetParam(), a).Apply(inputs, first.data());
    for (const float b : SpecialAlphas()) {
      const auto model = Read(ChainModel({a, b}, GetParam()));
      ASSERT_TRUE(model.ok()) << model.status();
      ThresholdedRelu(GetParam(), b).Apply(first, by_nodes.data());
      ThresholdedRelu(GetParam(), *model->alpha).Apply(inputs, by_model.data());
      ASSERT_EQ(std::memcmp(by_nodes.data(), by_model.data(), inputs.size()), 0) << a << ", " << b;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnnxChain, ::testing::ValuesIn(kAllDTypes),
                         [](const auto& tested) { return std::string(Name(tested.param)); });

TEST(OnnxModel, HasTheLargestAlphaOfAChainOrNaN) {
  EXPECT_EQ(Read(ChainModel({-1.0F, 2.0F, 1.0F}))->alpha, 2.0F);
  EXPECT_EQ(Read(ChainModel({-3.0F, -2.0F}))->alpha, -2.0F);
  const float nan = std::nanf("");
  for (const auto& alphas : {std::vector{nan, 1.0F, 2.0F}, {1.0F, nan, 2.0F}, {1.0F, 2.0F, nan}}) {
    EXPECT_TRUE(std::isnan(*Read(ChainModel(alphas))->alpha));
  }
}

TEST(OnnxModel, TakesAChainOfAThousand) {
  std::vector<float> alphas(1000);
  for (std::size_t i = 0; i < alphas.size(); ++i) alphas[i] = static_cast<float>(i * 7919 % 1000);
  EXPECT_EQ(Read(ChainModel(alphas))->alpha, 999.0F);
}

}  // namespace
}  // namespace trelu::server
