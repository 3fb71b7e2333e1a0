// Small inputs from public bug reports about this operator, its element types and tensors over RPC,
// each with its one right answer.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct FieldInput {
  const char* name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::optional<float> alpha;
  // Elements as bit patterns.
  std::vector<std::uint64_t> x;
  std::vector<std::uint64_t> y;
};

std::string LittleEndian(DType dtype, const std::vector<std::uint64_t>& elements) {
  std::string bytes;
  for (std::uint64_t bits : elements) {
    for (std::size_t i = 0; i < ElementBytes(dtype); ++i, bits >>= 8) {
      bytes.push_back(static_cast<char>(bits & 0xff));
    }
  }
  return bytes;
}

float FromBits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::vector<FieldInput> AllFieldInputs() {
  using enum DType;
  return {
      {"EqualToAlphaIsNotAbove",
       kFloat32,
       {3},
       2.0F,
       {0x3fffffff, 0x40000000, 0x40000001},
       {0, 0, 0x40000001}},
      {"AlphaZeroGiven", kFloat32, {1}, 0.0F, {0x3f000000}, {0x3f000000}},
      {"AlphaLeftOut", kFloat32, {1}, std::nullopt, {0x3f000000}, {0}},
      {"DefaultAlphaIsOne",
       kFloat32,
       {3},
       std::nullopt,
       {0x3f000000, 0x3f800000, 0x3fc00000},
       {0, 0, 0x3fc00000}},
      {"AlphaBelowZero",
       kFloat32,
       {5},
       -1.0F,
       {0xc0000000, 0xbf800000, 0xbf000000, 0x80000000, 0x3f000000},
       {0, 0, 0xbf000000, 0x80000000, 0x3f000000}},
      {"AboveANegativeAlphaPasses",
       kFloat32,
       {4},
       -1.0F,
       {0x3fc00000, 0x3f000000, 0xbf000000, 0xbfc00000},
       {0x3fc00000, 0x3f000000, 0xbf000000, 0}},
      {"MinusZeroKeepsItsSignFloat16", kFloat16, {1}, -1.0F, {0x8000}, {0x8000}},
      {"MinusZeroKeepsItsSignBFloat16", kBFloat16, {1}, -1.0F, {0x8000}, {0x8000}},
      {"MinusZeroKeepsItsSignFloat32", kFloat32, {1}, -1.0F, {0x80000000}, {0x80000000}},
      {"MinusZeroKeepsItsSignFloat64",
       kFloat64,
       {1},
       -1.0F,
       {0x8000000000000000},
       {0x8000000000000000}},
      {"ANegativeBecomesPlusZero", kFloat32, {1}, 1.0F, {0xbfc00000}, {0}},
      {"NanIsNeverAbove",
       kFloat32,
       {4},
       -kInfinity,
       {0x7fc00000, 0xffc00000, 0x7f800001, 0xbf800000},
       {0, 0, 0, 0xbf800000}},
      {"InfinitiesAreNoNan", kFloat32, {2}, 1.0F, {0xff800000, 0x7f800000}, {0, 0x7f800000}},
      {"NothingIsAboveInfinity", kFloat32, {1}, kInfinity, {0x7f800000}, {0}},
      {"SubnormalFloat32IsAboveZero", kFloat32, {1}, 0.0F, {1}, {1}},
      {"SubnormalBFloat16IsAboveZero", kBFloat16, {2}, 0.0F, {0x0001, 0x007f}, {0x0001, 0x007f}},
      {"SubnormalAlphaBFloat16",
       kBFloat16,
       {2},
       FromBits(0x00400000),
       {0x0040, 0x0041},
       {0, 0x0041}},
      {"AlphaRoundsToBFloat16", kBFloat16, {3}, 0.1F, {0x3dcc, 0x3dcd, 0x3dce}, {0, 0, 0x3dce}},
      {"AlphaRoundsUpToBFloat16",
       kBFloat16,
       {3},
       FromBits(0x3e89ccd5),
       {0x3e89, 0x3e8a, 0x3e8b},
       {0, 0, 0x3e8b}},
      {"AlphaOverflowsFloat16", kFloat16, {2}, 65520.0F, {0x7bff, 0x7c00}, {0, 0}},
      {"AlphaJustFitsFloat16", kFloat16, {2}, 65519.0F, {0x7bff, 0x7c00}, {0, 0x7c00}},
      {"Float16ComparesInFloat16", kFloat16, {3}, 0.3F, {0x34cc, 0x34cd, 0x34ce}, {0, 0, 0x34ce}},
      {"NegativeHalvesKeepTheirOrder",
       kFloat16,
       {5},
       -1.0F,
       {0xfc00, 0xc000, 0xbc00, 0xb800, 0x8000},
       {0, 0, 0, 0xb800, 0x8000}},
      {"AlphaIsAFloat32InFloat64",
       kFloat64,
       {3},
       FromBits(0x3dcccccd),
       {0x3fb999999999999a, 0x3fb99999a0000000, 0x3fb99999a0000001},
       {0, 0, 0x3fb99999a0000001}},
      {"BFloat16Bytes", kBFloat16, {2}, 1.0F, {0x3f80, 0x4000}, {0, 0x4000}},
      {"HalvesAreBitPatterns", kFloat16, {3}, 1.0F, {15872, 48128, 16384}, {0x3e00, 0, 0x4000}},
      {"ScalarKeepsItsShape", kFloat32, {}, 1.0F, {0x40200000}, {0x40200000}},
      {"DoubleWithoutAlpha",
       kFloat64,
       {2},
       std::nullopt,
       {0x3ff8000000000000, 0x3fe0000000000000},
       {0x3ff8000000000000, 0}},
      {"NoElements", kFloat32, {2, 0}, std::nullopt, {}, {}},
      {"NoElementsOfHugeSizes", kFloat64, {0, std::int64_t{1} << 62}, std::nullopt, {}, {}},
      {"RankEight", kFloat32, {1, 1, 1, 1, 1, 1, 1, 1}, 0.0F, {0x3f800000}, {0x3f800000}},
      {"Rank64", kFloat32, std::vector<std::int64_t>(64, 1), 0.0F, {0x3f800000}, {0x3f800000}},
      {"TransposedShape", kFloat16, {2, 1}, 0.0F, {0x3c00, 0xbc00}, {0x3c00, 0}},
      {"SignallingNanAlpha", kFloat32, {1}, FromBits(0x7f800001), {0x7f800000}, {0}},
  };
}

class FieldInputs : public ::testing::Test {
 protected:
  static WireTensorCase Request(const FieldInput& input) {
    return {input.dtype, input.shape, input.alpha, LittleEndian(input.dtype, input.x)};
  }

  InProcessServer server_;
  NativeClient client_{server_.target()};
};

TEST_F(FieldInputs, UnaryAnswer) {
  for (const FieldInput& input : AllFieldInputs()) {
    const Answer answer = client_.Apply(ToRequest(Request(input)));
    ASSERT_TRUE(answer.status.ok()) << input.name << ": " << answer.status.error_message();
    const auto result = ParseResponse(answer.message);
    ASSERT_TRUE(result) << input.name;
    EXPECT_TRUE(result->Is(Request(input), LittleEndian(input.dtype, input.y))) << input.name;
  }
}

TEST_F(FieldInputs, StreamAnswerByteByByte) {
  for (const FieldInput& input : AllFieldInputs()) {
    auto stream = client_.OpenStream();
    for (const auto& chunk : ToChunks(Request(input), 1)) {
      ASSERT_TRUE(stream->Write(chunk.SerializeAsString())) << input.name;
    }
    stream->WritesDone();
    const auto results = JoinResponses(stream->ReadAll());
    const grpc::Status status = stream->Finish();
    ASSERT_TRUE(status.ok()) << input.name << ": " << status.error_message();
    ASSERT_TRUE(results) << input.name;
    ASSERT_EQ(results->size(), 1U) << input.name;
    EXPECT_TRUE(results->front().Is(Request(input), LittleEndian(input.dtype, input.y)))
        << input.name;
  }
}

// Vector loops that run past the end or skip the tail; 4 MiB where other servers stop.
TEST_F(FieldInputs, EveryLengthAndBeyondFourMebibytes) {
  std::mt19937_64 random(67);
  for (const DType dtype : kAllDTypes) {
    for (std::int64_t count = 0; count <= 68; ++count) {
      if (count == 68) count = 1'048'577;
      WireTensorCase tensor = {dtype, {count}, 0.0F, {}};
      tensor.data.resize(static_cast<std::size_t>(count) * ElementBytes(dtype));
      for (char& byte : tensor.data) byte = static_cast<char>(random());
      const Answer answer = client_.Apply(ToRequest(tensor));
      ASSERT_TRUE(answer.status.ok()) << Name(dtype) << " " << count;
      const auto result = ParseResponse(answer.message);
      ASSERT_TRUE(result && result->Is(tensor, Expected(tensor))) << Name(dtype) << " " << count;
    }
  }
}

}  // namespace
}  // namespace trelu::testing
