// Random damage to valid messages: the codec and protobuf agree on every one. Seeds are fixed, so a
// failure repeats.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/proto/agreement.h"
#include "tests/proto/mutation.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kIterations = 20000;  // ten times slower; the fuzzer goes further
#else
constexpr int kIterations = 200000;
#endif

constexpr std::string_view kTelling("\x00\x01\x08\x0a\x0b\x0c\x10\x12\x15\x7a\x7f\x80\x81\x8a\xff",
                                    15);

std::string Valid(Random& random) {
  v1::ApplyRequest request;
  if (!random.OneIn(5)) {
    static constexpr std::array kDTypes = {0, 1, 10, 11, 16, 999, -1};
    request.mutable_tensor()->set_dtype(
        static_cast<v1::DataType>(kDTypes[random.Below(kDTypes.size())]));
    for (std::size_t rank = random.Below(5); rank > 0; --rank) {
      request.mutable_tensor()->add_shape(
          static_cast<std::int64_t>(random.Bits() >> random.Below(64)));
    }
  }
  if (random.OneIn(2)) request.set_alpha(0.5F);
  if (!random.OneIn(5)) request.set_data(std::string(random.Below(60), 'x'));
  return request.SerializeAsString();
}

TEST(MutationTest, CodecAgreesWithProtobuf) {
  Random random(20260101);
  int valid = 0;
  for (int i = 0; i < kIterations; ++i) {
    std::string bytes = Valid(random);
    for (std::size_t times = random.Below(4); times > 0; --times) {
      Damage(random, kTelling, Valid(random), bytes);
    }
    ASSERT_EQ(RequestDisagreement(bytes, CutAtRandom(random, bytes)), "") << i << " " << Hex(bytes);
    ASSERT_EQ(ResponseDisagreement(bytes, CutAtRandom(random, bytes)), "")
        << i << " " << Hex(bytes);
    valid += v1::ApplyRequest().ParseFromString(bytes) ? 1 : 0;
  }
  // Both outcomes are exercised.
  EXPECT_GT(valid, kIterations / 4);
  EXPECT_LT(valid, kIterations * 3 / 4);
}

}  // namespace
}  // namespace trelu::testing
