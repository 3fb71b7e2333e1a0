#include "client/command/bench/test_tensor.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "client/command/bench/expected_answer.h"

namespace trelu::command {
namespace {

constexpr std::uint64_t kPeriodElements = 1'000'003;

std::vector<std::byte> RandomBytes(std::size_t size) {
  std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): the same bytes in every run
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(bytes.data() + i, &bits, std::min(sizeof(bits), size - i));
  }
  return bytes;
}

// Calls use(i, n, period_offset): the n bytes at i of a run of `size` bytes that begins at `offset`
// of the tensor, in pieces that do not wrap around the period.
template <typename Use>
void ForEachPiece(std::uint64_t offset, std::size_t size, std::size_t period, Use use) {
  for (std::size_t i = 0; i < size;) {
    const std::size_t begin = (offset + i) % period;
    const std::size_t n = std::min(size - i, period - begin);
    if (!use(i, n, begin)) return;
    i += n;
  }
}

}  // namespace

TestTensor::TestTensor(const TensorSpec& spec, float alpha)
    : input_(RandomBytes(
          std::min(spec.bytes(), kPeriodElements * std::uint64_t{ElementBytes(spec.dtype())}))),
      answer_(ExpectedAnswer(spec.dtype(), alpha, input_)) {}

void TestTensor::CopyInput(std::uint64_t offset, std::span<std::byte> x) const {
  ForEachPiece(offset, x.size(), input_.size(),
               [&](std::size_t i, std::size_t n, std::size_t begin) {
                 std::memcpy(x.data() + i, input_.data() + begin, n);
                 return true;
               });
}

absl::Status TestTensor::CheckAnswer(std::uint64_t offset, std::span<const std::byte> y) const {
  absl::Status status;
  ForEachPiece(
      offset, y.size(), answer_.size(), [&](std::size_t i, std::size_t n, std::size_t begin) {
        if (std::memcmp(y.data() + i, answer_.data() + begin, n) == 0) return true;
        const std::byte* wrong =
            std::mismatch(y.data() + i, y.data() + i + n, answer_.data() + begin).first;
        const auto at = static_cast<std::size_t>(wrong - y.data());
        status = absl::DataLossError(absl::StrFormat(
            "wrong answer: byte %d is 0x%02x, expected 0x%02x", offset + at,
            static_cast<unsigned>(*wrong), static_cast<unsigned>(answer_[begin + (at - i)])));
        return false;
      });
  return status;
}

}  // namespace trelu::command
