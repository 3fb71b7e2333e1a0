#include "proto/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/proto/message_bytes.h"

namespace trelu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Join;

// "a...b...c..." so that every byte tells where it came from.
std::string Text(std::size_t bytes, char first = 'a') {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(first + i % 26));
  return text;
}

Payload PayloadOf(const std::vector<std::string>& parts) {
  Payload payload;
  for (const std::string& part : parts) payload.Append(grpc::Slice(part));
  return payload;
}

std::vector<std::size_t> Sizes(const Payload& payload) {
  std::vector<std::size_t> sizes;
  for (const grpc::Slice& slice : payload.slices()) sizes.push_back(slice.size());
  return sizes;
}

TEST(PayloadTest, DropsEmptySlices) {
  const Payload payload = PayloadOf({"", "ab", "", "c", ""});
  EXPECT_EQ(payload.bytes(), 3);
  EXPECT_THAT(Sizes(payload), ElementsAre(2, 1));
}

// NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): that is what is tested.
TEST(PayloadTest, TakesAnotherPayloadWhole) {
  Payload payload;
  Payload first = PayloadOf({"ab", Text(100)});
  Payload second = PayloadOf({Text(60), "c", "d"});
  payload.Append(std::move(first));
  payload.Append(std::move(second));
  EXPECT_EQ(payload.bytes(), 164);
  EXPECT_EQ(Join(payload.slices()), "ab" + Text(100) + Text(60) + "cd");
  EXPECT_TRUE(first.empty());
  EXPECT_THAT(second.slices(), IsEmpty());
}

TEST(PayloadTest, LeavesNothingBehindWhenMoved) {
  Payload from = PayloadOf({"ab", Text(100)});
  Payload to = std::move(from);
  EXPECT_EQ(from.bytes(), 0);
  EXPECT_THAT(from.slices(), IsEmpty());
  from = std::move(to);
  EXPECT_EQ(Join(from.slices()), "ab" + Text(100));
  EXPECT_THAT(to.slices(), IsEmpty());
}
// NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)

TEST(PayloadTest, SplitsTailAtEveryByte) {
  const std::vector<std::string> parts = {Text(5), Text(30, 'A'), Text(1), Text(70), Text(24, 'A')};
  const std::string whole = Join(PayloadOf(parts).slices());
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    SCOPED_TRACE(bytes);
    Payload head = PayloadOf(parts);
    Payload tail = head.SplitTail(bytes);
    EXPECT_EQ(head.bytes(), whole.size() - bytes);
    EXPECT_EQ(tail.bytes(), bytes);
    EXPECT_EQ(Join(head.slices()), whole.substr(0, whole.size() - bytes));
    EXPECT_EQ(Join(tail.slices()), whole.substr(whole.size() - bytes));
  }
}

TEST(PayloadTest, SplitsWithoutCopyingWhatIsNotTiny) {
  Payload head = PayloadOf({Text(200)});
  const std::uint8_t* begin = head.slices()[0].begin();
  const Payload tail = head.SplitTail(150);
  EXPECT_EQ(head.slices()[0].begin(), begin);
  EXPECT_EQ(tail.slices()[0].begin(), begin + 50);
}

// alpha 1 on float32: the operator writes into exactly the payload's bytes, whether they lie in a
// heap block or inside the slice object.
TEST(PayloadTest, IsComputedOnInPlace) {
  const std::vector<float> x = {2.0F, 0.5F, 3.0F, -1.0F, 1.0F, 4.0F, 0.0F, 5.0F, 0.25F, 6.0F};
  const std::vector<float> y = {2.0F, 0.0F, 3.0F, 0.0F, 0.0F, 4.0F, 0.0F, 5.0F, 0.0F, 6.0F};
  const std::string bytes(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
  const std::string expected(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float));
  const std::vector<std::vector<std::string>> cuts = {
      {bytes},                                                      // heap
      {bytes.substr(0, 20), bytes.substr(20)},                      // inside the slice objects
      {bytes.substr(0, 3), bytes.substr(3, 27), bytes.substr(30)},  // both, elements straddling
  };
  for (const std::vector<std::string>& parts : cuts) {
    SCOPED_TRACE(parts.size());
    Payload payload = PayloadOf(parts);
    Segments segments = payload.MutableSegments();
    ASSERT_EQ(segments.bytes(), bytes.size());
    segments.ApplyInPlace(ThresholdedRelu(DType::kFloat32, 1.0F), 0, bytes.size());
    EXPECT_EQ(Join(payload.slices()), expected);
  }
}

TEST(PayloadTest, HalvesOfATinySliceAreIndependent) {
  Payload head = PayloadOf({std::string(16, '\x7f')});  // float32 3.39e38 in all four elements
  Payload tail = head.SplitTail(8);
  tail.MutableSegments().ApplyInPlace(ThresholdedRelu(DType::kFloat32, 3.4e38F), 0, 8);
  EXPECT_EQ(Join(head.slices()), std::string(8, '\x7f'));
  EXPECT_EQ(Join(tail.slices()), std::string(8, '\0'));
}

}  // namespace
}  // namespace trelu
