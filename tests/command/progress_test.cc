#include "client/command/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace trelu::command {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(BytesText, IsBinary) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1.0 KiB");
  EXPECT_EQ(BytesText((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(BytesText(32 * kGiB), "32.0 GiB");
  EXPECT_EQ(BytesText(~std::uint64_t{0}), "16.0 EiB");
}

TEST(RateText, IsDecimal) {
  EXPECT_EQ(RateText(3'400'000'000, seconds(2)), "1.70 GB/s");
  EXPECT_EQ(RateText(5'000'000, seconds(2)), "2.5 MB/s");
  EXPECT_EQ(RateText(100, seconds(1)), "0.1 kB/s");
  EXPECT_EQ(RateText(100, seconds(0)), "0.0 kB/s");
}

TEST(ProgressLine, FitsTheColumns) {
  EXPECT_EQ(ProgressLine(8 * kGiB, 32 * kGiB, seconds(5), 80, false),
            " 25 %  8.0 GiB of 32.0 GiB  1.72 GB/s  0:15 left  [=======                     ]");
  EXPECT_EQ(ProgressLine(8 * kGiB, 32 * kGiB, seconds(5), 60, false),
            " 25 %  8.0 GiB of 32.0 GiB  1.72 GB/s  0:15 left");
  EXPECT_EQ(ProgressLine(8 * kGiB, 32 * kGiB, seconds(5), 10, false), " 25 %  8.0");
  EXPECT_EQ(ProgressLine(8 * kGiB, 32 * kGiB, seconds(5), -1, false), "");
  for (int columns = 0; columns < 200; ++columns) {
    EXPECT_LE(ProgressLine(kGiB, 32 * kGiB, seconds(5), columns, false).size(),
              static_cast<std::size_t>(columns));
  }
}

TEST(ProgressLine, KnowsBothEnds) {
  EXPECT_EQ(ProgressLine(0, kGiB, seconds(2), 60, false),
            "  0 %  0 B of 1.0 GiB  0.0 kB/s  [                         ]");
  EXPECT_EQ(ProgressLine(kGiB, kGiB, seconds(1), 60, false),
            "100 %  1.0 GiB of 1.0 GiB  1.07 GB/s  0:00 left");
  EXPECT_THAT(ProgressLine(1, kGiB, seconds(1), 60, false), testing::HasSubstr("99:59:59 left"));
  EXPECT_THAT(ProgressLine(kGiB / 3601, kGiB, seconds(1), 60, false),
              testing::HasSubstr("1:00:01 left"));
}

TEST(ProgressLine, ColoursTheBarAlone) {
  EXPECT_EQ(
      ProgressLine(8 * kGiB, 32 * kGiB, seconds(5), 80, true),
      " 25 %  8.0 GiB of 32.0 GiB  1.72 GB/s  0:15 left  [\033[32m=======\033[0m              "
      "       ]");
}

class ProgressTest : public testing::Test {
 protected:
  std::chrono::steady_clock::time_point now_;
  std::vector<std::string> drawn_;
  Progress::Draw draw_ = [this](const std::string& text) { drawn_.push_back(text); };
  Progress::Clock clock_ = [this] { return now_; };
};

TEST_F(ProgressTest, SaysNothingOfShortWork) {
  {
    Progress progress(100, 80, false, draw_, clock_);
    now_ += milliseconds(999);
    progress.Add(100);
  }
  EXPECT_THAT(drawn_, testing::IsEmpty());
}

TEST_F(ProgressTest, DrawsTenTimesASecondAndClearsUp) {
  {
    Progress progress(1000, 80, false, draw_, clock_);
    now_ += milliseconds(1000);
    progress.Add(1);
    EXPECT_EQ(drawn_.size(), 1U);
    now_ += milliseconds(99);
    progress.Add(1);
    EXPECT_EQ(drawn_.size(), 1U);
    now_ += milliseconds(1);
    progress.Add(8);
    EXPECT_EQ(drawn_.size(), 2U);
  }
  ASSERT_EQ(drawn_.size(), 3U);
  EXPECT_THAT(drawn_[1], testing::StartsWith("\r\033[K  1 %  10 B of 1000 B"));
  EXPECT_EQ(drawn_[2], "\r\033[K");
}

TEST_F(ProgressTest, DrawsNothingWithoutATerminal) {
  Progress progress(100, 80, false, nullptr, clock_);
  now_ += seconds(10);
  progress.Add(50);
}

}  // namespace
}  // namespace trelu::command
