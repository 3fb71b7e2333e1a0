#include "client/command/bench/test_tensor.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "client/command/bench/expected_answer.h"

namespace trelu::command {
namespace {

TensorSpec Spec(DType dtype, std::int64_t count) {
  return *TensorSpec::Create(dtype, std::vector{count});
}

// More than two periods.
constexpr std::int64_t kCount = 2'500'000;

class TestTensorTest : public testing::Test {
 protected:
  TestTensorTest() : x_(spec_.bytes()) {
    tensor_.CopyInput(0, x_);
    y_ = ExpectedAnswer(DType::kFloat16, 0.5F, x_);
  }
  const TensorSpec spec_ = Spec(DType::kFloat16, kCount);
  const TestTensor tensor_{spec_, 0.5F};
  std::vector<std::byte> x_;
  std::vector<std::byte> y_;
};

TEST_F(TestTensorTest, PiecesAreThoseOfTheWhole) {
  std::vector<std::byte> pieces(x_.size());
  std::size_t offset = 0;
  for (std::size_t size = 1; offset < pieces.size(); size = size * 3 + 1) {
    const std::size_t n = std::min(size, pieces.size() - offset);
    tensor_.CopyInput(offset, std::span(pieces).subspan(offset, n));
    EXPECT_TRUE(tensor_.CheckAnswer(offset, std::span(y_).subspan(offset, n)).ok());
    offset += n;
  }
  EXPECT_TRUE(pieces == x_);
}

TEST_F(TestTensorTest, TheRightAnswerPassesAndAnyWrongByteIsNamed) {
  EXPECT_TRUE(tensor_.CheckAnswer(0, y_).ok());
  for (const std::size_t at : {std::size_t{0}, std::size_t{2'000'005}, std::size_t{2'000'006},
                               std::size_t{4'000'013}, y_.size() - 1}) {
    y_[at] ^= std::byte{0x10};
    const absl::Status status = tensor_.CheckAnswer(0, y_);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("byte " + std::to_string(at) + " is 0x"));
    y_[at] ^= std::byte{0x10};
  }
}

TEST_F(TestTensorTest, MisplacedMegabytesAreSeen) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (std::size_t to = 0; to + kPiece <= y_.size(); to += kPiece) {
    for (std::size_t from = 0; from + kPiece <= y_.size(); from += kPiece) {
      EXPECT_EQ(tensor_.CheckAnswer(to, std::span(y_).subspan(from, kPiece)).ok(), from == to);
    }
  }
}

TEST(TestTensorEdgesTest, EmptyAndTiny) {
  for (const std::int64_t count : {0, 1, 3}) {
    const TensorSpec spec = Spec(DType::kBFloat16, count);
    const TestTensor tensor(spec, 1);
    std::vector<std::byte> x(spec.bytes());
    tensor.CopyInput(0, x);
    EXPECT_TRUE(tensor.CheckAnswer(0, ExpectedAnswer(DType::kBFloat16, 1, x)).ok());
  }
}

}  // namespace
}  // namespace trelu::command
