// Random damage to valid messages: the codec and protobuf agree on every one. Seeds are fixed, so a
// failure repeats.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/proto/agreement.h"
#include "tests/proto/message_bytes.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kIterations = 20000;  // ten times slower; the fuzzer goes further
#else
constexpr int kIterations = 200000;
#endif

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  // Below `bound`.
  std::size_t Below(std::size_t bound) { return engine_() % bound; }
  bool OneIn(std::size_t n) { return Below(n) == 0; }
  std::uint64_t Bits() { return std::uint64_t{engine_()} << 32 | engine_(); }
  // Bytes that matter to a parser more often than others do.
  char Byte() {
    static constexpr std::array<std::uint8_t, 15> kTelling = {
        0x00, 0x01, 0x08, 0x0a, 0x0b, 0x0c, 0x10, 0x12, 0x15, 0x7a, 0x7f, 0x80, 0x81, 0x8a, 0xff};
    return static_cast<char>(OneIn(3) ? Below(256) : kTelling[Below(kTelling.size())]);
  }

 private:
  std::mt19937 engine_;
};

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

void Damage(Random& random, std::string& bytes) {
  const std::size_t at = random.Below(bytes.size() + 1);
  switch (random.Below(6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = random.Byte();
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
      break;
    case 2:
      bytes.insert(at, 1, random.Byte());
      break;
    case 3:
      bytes.erase(at, 1 + random.Below(3));
      break;
    case 4:  // fields again, or pieces of them
      bytes.insert(at, bytes.substr(random.Below(bytes.size() + 1), random.Below(12)));
      break;
    default:
      bytes += Valid(random);
  }
}

grpc::ByteBuffer CutAtRandom(Random& random, const std::string& bytes) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = random.Below(40); at < bytes.size(); at += random.Below(40)) {
    cuts.push_back(at);
    if (random.OneIn(4)) break;
  }
  return Cut(bytes, cuts);
}

std::string Hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<std::uint8_t>(byte) >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

TEST(MutationTest, CodecAgreesWithProtobuf) {
  Random random(20260101);
  int valid = 0;
  for (int i = 0; i < kIterations; ++i) {
    std::string bytes = Valid(random);
    for (std::size_t times = random.Below(4); times > 0; --times) Damage(random, bytes);
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
