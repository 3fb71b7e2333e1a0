// The grid: every dtype, level, count up to twice the widest step and a bit, misalignment, place.
#include "core/thresholded_relu.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/core/kernel_grid.h"
#include "tests/core/scalar_oracle.h"

namespace trelu {
namespace {

using testing::AllKernels;
using testing::Expected;
using testing::InterestingInput;
using testing::KernelName;
using testing::KernelParameter;

constexpr std::size_t kWidestVectorBytes = 64;
constexpr std::size_t kUnrolledBytes = 512;
constexpr std::array<std::size_t, 7> kMisalignments = {0, 1, 2, 3, 8, 31, 63};
constexpr std::array<float, 4> kAlphas = {1.0F, 0.0F, -1.0F,
                                          -std::numeric_limits<float>::infinity()};

// Memory that begins `misalignment` bytes after a multiple of 64, between bytes that must not
// change.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t misalignment, std::size_t bytes)
      : bytes_(bytes), memory_(2 * kGuardBytes + kAlignment + misalignment + bytes, kGuard) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
    begin_ = kGuardBytes + (kAlignment - address % kAlignment) % kAlignment + misalignment;
  }

  std::byte* data() { return memory_.data() + begin_; }
  std::span<std::byte> span() { return {data(), bytes_}; }
  std::vector<std::byte> copy() { return {data(), data() + bytes_}; }

  bool GuardsAreIntact() const {
    const auto intact = [](std::byte byte) { return byte == kGuard; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), begin, intact) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), intact);
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kGuardBytes = 128;
  static constexpr std::byte kGuard{0xa5};
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  std::size_t begin_;
};

class ThresholdedReluGrid : public ::testing::TestWithParam<KernelParameter> {
 protected:
  void CheckOutOfPlace(float alpha, std::size_t bytes, std::size_t x_offset, std::size_t y_offset) {
    SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", " << bytes << " bytes, x + "
                                      << x_offset << ", y + " << y_offset);
    const std::vector<std::byte> input = InterestingInput(GetParam().dtype, alpha, bytes, 1);
    GuardedBuffer x(x_offset, bytes);
    GuardedBuffer y(y_offset, bytes);
    std::copy(input.begin(), input.end(), x.data());
    ThresholdedRelu(GetParam().dtype, alpha, GetParam().level).Apply(x.span(), y.data());
    ASSERT_TRUE(y.copy() == Expected(GetParam().dtype, alpha, input));
    ASSERT_TRUE(x.copy() == input);
    ASSERT_TRUE(x.GuardsAreIntact());
    ASSERT_TRUE(y.GuardsAreIntact());
  }

  void CheckInPlace(float alpha, std::size_t bytes, std::size_t offset) {
    SCOPED_TRACE(::testing::Message()
                 << "alpha " << alpha << ", " << bytes << " bytes in place, + " << offset);
    const std::vector<std::byte> input = InterestingInput(GetParam().dtype, alpha, bytes, 1);
    GuardedBuffer x(offset, bytes);
    std::copy(input.begin(), input.end(), x.data());
    ThresholdedRelu(GetParam().dtype, alpha, GetParam().level).Apply(x.span(), x.data());
    ASSERT_TRUE(x.copy() == Expected(GetParam().dtype, alpha, input));
    ASSERT_TRUE(x.GuardsAreIntact());
  }

  std::size_t element_bytes() const { return ElementBytes(GetParam().dtype); }
};

TEST_P(ThresholdedReluGrid, EveryCountUpToTwiceTheWidestVector) {
  const std::size_t most = 2 * kWidestVectorBytes + element_bytes();
  for (const float alpha : kAlphas) {
    for (std::size_t bytes = 0; bytes <= most; bytes += element_bytes()) {
      for (const std::size_t offset : kMisalignments) {
        for (const std::size_t y_offset : kMisalignments) {
          CheckOutOfPlace(alpha, bytes, offset, y_offset);
          if (HasFatalFailure()) return;
        }
        CheckInPlace(alpha, bytes, offset);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(ThresholdedReluGrid, EveryCountAroundTheUnrolledChunks) {
  const std::size_t most = 2 * kUnrolledBytes + kWidestVectorBytes + element_bytes();
  for (std::size_t bytes = kUnrolledBytes - kWidestVectorBytes; bytes <= most;
       bytes += element_bytes()) {
    CheckOutOfPlace(-1.0F, bytes, 1, 2);
    CheckInPlace(1.0F, bytes, 3);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ThresholdedReluGrid, SizesAroundTheFirstCache) {
  for (const std::size_t kib : {32, 37, 128}) {
    for (const std::size_t more :
         {std::size_t{0}, element_bytes(), kUnrolledBytes, std::size_t{1000}}) {
      CheckOutOfPlace(1.0F, (kib << 10) + more, 1, 2);
      CheckInPlace(-1.0F, (kib << 10) + more, 3);
      if (HasFatalFailure()) return;
    }
  }
}

// The right results of such sizes are put together from the blocks that the tests above prove.
TEST_P(ThresholdedReluGrid, SizesThatAreWrittenPastTheCaches) {
  constexpr std::size_t kBytes = (std::size_t{32} << 20) + 65536;
  constexpr std::size_t kBlockBytes = 65536;
  const ThresholdedRelu op(GetParam().dtype, -1.0F, GetParam().level);
  const std::vector<std::byte> block = InterestingInput(GetParam().dtype, -1.0F, kBlockBytes, 2);
  GuardedBuffer x(5, kBytes);
  std::vector<std::byte> expected(kBytes);
  for (std::size_t i = 0; i < kBytes; i += kBlockBytes) {
    std::copy(block.begin(), block.end(), x.data() + i);
    const std::size_t mark = i / kBlockBytes;  // so that no two blocks are the same
    std::memcpy(x.data() + i + kBlockBytes / 2, &mark, sizeof(mark));
    op.Apply({x.data() + i, kBlockBytes}, expected.data() + i);
  }
  for (const std::size_t y_offset :
       {std::size_t{0}, std::size_t{1}, element_bytes(), std::size_t{63}}) {
    for (const std::size_t less : {std::size_t{0}, std::size_t{48}, std::size_t{65536}}) {
      SCOPED_TRACE(::testing::Message() << "y + " << y_offset << ", " << less << " bytes less");
      GuardedBuffer y(y_offset, kBytes - less);
      op.Apply({x.data(), kBytes - less}, y.data());
      ASSERT_EQ(std::memcmp(y.data(), expected.data(), kBytes - less), 0);
      ASSERT_TRUE(y.GuardsAreIntact());
    }
  }
}

// A mapping of one page, right after which (or right before) nothing may be touched.
class GuardedPage {
 public:
  GuardedPage()
      : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        memory_(static_cast<std::byte*>(
            mmap(nullptr, 3 * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(memory_ + page_bytes_, page_bytes_, PROT_READ | PROT_WRITE);
  }
  ~GuardedPage() { munmap(memory_, 3 * page_bytes_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  std::byte* first(std::size_t /*bytes*/) { return memory_ + page_bytes_; }
  std::byte* last(std::size_t bytes) { return memory_ + 2 * page_bytes_ - bytes; }

 private:
  std::size_t page_bytes_;
  std::byte* memory_;
};

TEST_P(ThresholdedReluGrid, LengthsBetweenGuardPages) {
  GuardedPage x_page;
  GuardedPage y_page;
  const ThresholdedRelu op(GetParam().dtype, 0.5F, GetParam().level);
  for (std::size_t count = 1; count <= 67; ++count) {
    const std::size_t bytes = count * element_bytes();
    const std::vector<std::byte> input = InterestingInput(GetParam().dtype, 0.5F, bytes, 3);
    const std::vector<std::byte> expected = Expected(GetParam().dtype, 0.5F, input);
    for (const auto place : {&GuardedPage::first, &GuardedPage::last}) {
      std::byte* const x = (x_page.*place)(bytes);
      std::byte* const y = (y_page.*place)(bytes);
      std::copy(input.begin(), input.end(), x);
      op.Apply({x, bytes}, y);
      ASSERT_EQ(std::memcmp(y, expected.data(), bytes), 0) << count;
      op.Apply({x, bytes}, x);
      ASSERT_EQ(std::memcmp(x, expected.data(), bytes), 0) << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, ThresholdedReluGrid, ::testing::ValuesIn(AllKernels()),
                         KernelName);

TEST(KernelLevels, BeginWithTheBaselineAndRise) {
  const auto levels = SupportedKernelLevels();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.front(), KernelLevel::kBaseline);
  for (std::size_t i = 1; i < levels.size(); ++i) EXPECT_LT(levels[i - 1], levels[i]);
}

TEST(KernelLevels, HaveTheNamesOfThePlatformAbi) {
  EXPECT_EQ(Name(KernelLevel::kBaseline), "baseline");
  EXPECT_EQ(Name(KernelLevel::kX86_64_V3), "x86-64-v3");
  EXPECT_EQ(Name(KernelLevel::kX86_64_V4), "x86-64-v4");
}

}  // namespace
}  // namespace trelu
