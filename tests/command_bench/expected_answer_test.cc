#include "client/command/bench/expected_answer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/thresholded_relu.h"

namespace trelu::command {
namespace {

// The oracle against the kernel: written apart from each other, they must agree on everything.
class ExpectedAnswerTest : public testing::TestWithParam<DType> {};

std::vector<std::byte> EveryPatternOrMany(DType dtype) {
  std::vector<std::byte> x;
  const auto append = [&](auto bits) {
    const std::size_t end = x.size();
    x.resize(end + sizeof(bits));
    std::memcpy(x.data() + end, &bits, sizeof(bits));
  };
  if (ElementBytes(dtype) == 2) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) append(static_cast<std::uint16_t>(bits));
    return x;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    // Random bits seldom hit zero, the subnormals, infinity or NaN: force the exponent now and
    // then.
    std::uint64_t bits = random();
    const bool wide = ElementBytes(dtype) == 8;
    const std::uint64_t exponent = wide ? 0x7ff0'0000'0000'0000 : 0x7f80'0000;
    if (i % 8 == 1) bits |= exponent;
    if (i % 8 == 2) bits &= ~exponent;
    if (i % 8 == 3) bits &= wide ? 0x8000'0000'0000'0000 : 0x8000'0000;
    if (i % 8 == 4) bits &= wide ? 0xfff0'0000'0000'0000 : 0xff80'0000;
    if (wide) {
      append(bits);
    } else {
      append(static_cast<std::uint32_t>(bits));
    }
  }
  return x;
}

TEST_P(ExpectedAnswerTest, AgreesWithTheKernel) {
  const std::vector<std::byte> x = EveryPatternOrMany(GetParam());
  std::vector<float> alphas = {0.0F,     -0.0F,     1.0F,       -1.0F,        0.1F,
                               65504.0F, 65519.9F,  65520.0F,   -65520.0F,    3.39e38F,
                               3.4e38F,  6e-8F,     2.98e-8F,   2.99e-8F,     -6e-5F,
                               1e-45F,   HUGE_VALF, -HUGE_VALF, std::nanf("")};
  // Half-way between two neighbours of float16 and of bfloat16: ties go to even.
  for (const float tie : {1.00048828125F, 1.00146484375F, 1.00390625F, 1.01171875F}) {
    alphas.insert(alphas.end(), {tie, -tie});
  }
  for (const float alpha : alphas) {
    std::vector<std::byte> y(x.size());
    ThresholdedRelu(GetParam(), alpha).Apply(x, y.data());
    EXPECT_TRUE(ExpectedAnswer(GetParam(), alpha, x) == y) << "alpha = " << alpha;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ExpectedAnswerTest, testing::ValuesIn(kAllDTypes),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace trelu::command
