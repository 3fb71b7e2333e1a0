#include "server/inference/infer_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace trelu::server {
namespace {

using inference::InferParameter;
using ::testing::HasSubstr;

InferParameter Bool(bool value) {
  InferParameter parameter;
  parameter.set_bool_param(value);
  return parameter;
}
InferParameter Int64(std::int64_t value) {
  InferParameter parameter;
  parameter.set_int64_param(value);
  return parameter;
}
InferParameter Text(const std::string& value) {
  InferParameter parameter;
  parameter.set_string_param(value);
  return parameter;
}
InferParameter Double(double value) {
  InferParameter parameter;
  parameter.set_double_param(value);
  return parameter;
}
InferParameter Uint64(std::uint64_t value) {
  InferParameter parameter;
  parameter.set_uint64_param(value);
  return parameter;
}

InferParameters With(const std::string& name, const InferParameter& parameter) {
  InferParameters parameters;
  parameters[name] = parameter;
  return parameters;
}

TEST(RequestParametersTest, AlphaIsRoundedToFloat32First) {
  const struct {
    InferParameter parameter;
    float alpha;
  } cases[] = {
      {Double(0.1), 0.1F},
      {Double(1e300), std::numeric_limits<float>::infinity()},
      {Double(-1e300), -std::numeric_limits<float>::infinity()},
      {Double(0x1.fffffefffffffp127), std::numeric_limits<float>::max()},
      {Double(0x1.ffffffp127), std::numeric_limits<float>::infinity()},
      {Double(-0.0), -0.0F},
      {Double(1e-60), 0.0F},
      {Int64(-3), -3.0F},
      {Int64(16777217), 16777216.0F},  // halfway: to even
      {Int64(16777219), 16777220.0F},
      {Int64(std::numeric_limits<std::int64_t>::min()), -9223372036854775808.0F},
  };
  for (const auto& [parameter, alpha] : cases) {
    const auto read = ReadRequestParameters(With("alpha", parameter));
    ASSERT_TRUE(read.ok()) << parameter.ShortDebugString();
    ASSERT_TRUE(read->alpha.has_value());
    EXPECT_EQ(*read->alpha, alpha) << parameter.ShortDebugString();
    EXPECT_EQ(std::signbit(*read->alpha), std::signbit(alpha)) << parameter.ShortDebugString();
  }
  EXPECT_TRUE(std::isnan(*ReadRequestParameters(With("alpha", Double(std::nan(""))))->alpha));
  EXPECT_FALSE(ReadRequestParameters({})->alpha.has_value());
}

TEST(RequestParametersTest, TimeoutIsInMicrosecondsAndZeroIsNone) {
  EXPECT_EQ(ReadRequestParameters(With("timeout", Int64(1500)))->timeout,
            std::chrono::microseconds(1500));
  EXPECT_EQ(ReadRequestParameters(With("timeout", Int64(0)))->timeout, std::nullopt);
}

struct ParameterCase {
  const char* name;
  const char* parameter;
  InferParameter value;
  bool accepted;
};

class RequestParameter : public ::testing::TestWithParam<ParameterCase> {};

TEST_P(RequestParameter, IsAcceptedOrNamed) {
  const ParameterCase& one = GetParam();
  const auto read = ReadRequestParameters(With(one.parameter, one.value));
  EXPECT_EQ(read.ok(), one.accepted) << read.status();
  if (one.accepted) return;
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()),
              HasSubstr("parameters['" + std::string(one.parameter) + "']"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RequestParameter,
    ::testing::Values(
        ParameterCase{"AlphaAsText", "alpha", Text("1"), false},
        ParameterCase{"AlphaAsBool", "alpha", Bool(true), false},
        ParameterCase{"AlphaAsUint64", "alpha", Uint64(1), false},
        ParameterCase{"AlphaWithoutValue", "alpha", InferParameter(), false},
        ParameterCase{"TimeoutAsDouble", "timeout", Double(1), false},
        ParameterCase{"TimeoutAsUint64", "timeout", Uint64(1), false},
        ParameterCase{"TimeoutNegative", "timeout", Int64(-1), false},
        ParameterCase{"PriorityAsInt64", "priority", Int64(1), true},
        ParameterCase{"PriorityAsUint64", "priority", Uint64(1), true},
        ParameterCase{"PriorityNegative", "priority", Int64(-1), false},
        ParameterCase{"PriorityAsText", "priority", Text("1"), false},
        ParameterCase{"SequenceIdAsInt64", "sequence_id", Int64(1), true},
        ParameterCase{"SequenceIdAsText", "sequence_id", Text("a"), true},
        ParameterCase{"SequenceIdAsBool", "sequence_id", Bool(true), false},
        ParameterCase{"SequenceStart", "sequence_start", Bool(true), true},
        ParameterCase{"SequenceStartAsInt64", "sequence_start", Int64(1), false},
        ParameterCase{"EmptyFinal", "triton_enable_empty_final_response", Bool(true), true},
        ParameterCase{"EmptyFinalAsInt64", "triton_enable_empty_final_response", Int64(1), false},
        ParameterCase{"UnknownOfTriton", "triton_other", Bool(true), false},
        ParameterCase{"CustomText", "mine", Text("a"), true},
        ParameterCase{"CustomUint64", "mine", Uint64(1), false},
        ParameterCase{"CustomWithoutValue", "mine", InferParameter(), false}),
    [](const auto& info) { return info.param.name; });

TEST(PlacementTest, HasRegionSizeAndOffset) {
  InferParameters parameters = With("shared_memory_region", Text("r"));
  parameters["shared_memory_byte_size"] = Int64(64);
  auto placement = ReadPlacement("input 'X'", parameters);
  ASSERT_TRUE(placement.ok() && *placement);
  EXPECT_EQ((*placement)->region, "r");
  EXPECT_EQ((*placement)->byte_size, 64U);
  EXPECT_EQ((*placement)->offset, 0U);
  parameters["shared_memory_offset"] = Int64(3);
  EXPECT_EQ((*ReadPlacement("input 'X'", parameters))->offset, 3U);
  EXPECT_EQ(*ReadPlacement("input 'X'", With("mine", Text("a"))), std::nullopt);
}

TEST(PlacementTest, IncompleteOrWrongOnesAreNamed) {
  const InferParameter region = Text("r");
  const std::vector<std::pair<InferParameters, const char*>> cases = {
      {With("shared_memory_region", region), "shared_memory_byte_size"},
      {With("shared_memory_byte_size", Int64(1)), "shared_memory_region"},
      {With("shared_memory_offset", Int64(1)), "shared_memory_region"},
      {With("shared_memory_region", Int64(1)), "shared_memory_region"},
      {With("shared_memory_byte_size", Int64(-1)), "shared_memory_byte_size"},
      {With("shared_memory_offset", Uint64(1)), "shared_memory_offset"},
      {With("classification", Int64(1)), "classification"},
  };
  for (const auto& [parameters, named] : cases) {
    const auto placement = ReadPlacement("input 'X'", parameters);
    EXPECT_EQ(placement.status().code(), absl::StatusCode::kInvalidArgument) << named;
    EXPECT_THAT(std::string(placement.status().message()), HasSubstr(named));
    EXPECT_THAT(std::string(placement.status().message()), HasSubstr("input 'X'"));
  }
}

}  // namespace
}  // namespace trelu::server
