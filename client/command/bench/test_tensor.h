// The tensor that a benchmark sends, and the answer that must come back.
#ifndef TRELU_CLIENT_COMMAND_BENCH_TEST_TENSOR_H_
#define TRELU_CLIENT_COMMAND_BENCH_TEST_TENSOR_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trelu/tensor_spec.h"

namespace trelu::command {

// A tensor of any size in a few megabytes: random bits, every special value among them, repeated
// with a period that is a prime number of elements, so that misplaced pieces of an answer are seen.
// Immutable; any thread.
class TestTensor {
 public:
  TestTensor(const TensorSpec& spec, float alpha);

  // Fills `x` with the tensor's bytes from `offset` on.
  void CopyInput(std::uint64_t offset, std::span<std::byte> x) const;

  // DATA_LOSS, naming the first wrong byte, when `y` is not the answer's bytes from `offset` on.
  absl::Status CheckAnswer(std::uint64_t offset, std::span<const std::byte> y) const;

 private:
  std::vector<std::byte> input_;
  std::vector<std::byte> answer_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_TEST_TENSOR_H_
