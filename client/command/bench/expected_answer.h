// What the operator must answer, worked out one element at a time.
#ifndef TRELU_CLIENT_COMMAND_BENCH_EXPECTED_ANSWER_H_
#define TRELU_CLIENT_COMMAND_BENCH_EXPECTED_ANSWER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "trelu/dtype.h"

namespace trelu::command {

// ThresholdedRelu of `x`, whose size is a multiple of ElementBytes(dtype). Elements and alpha are
// taken as real numbers, in double, which holds every value of every dtype; nothing here is
// shared with the server's kernel, so that a fault of the one does not hide in the other. Slow:
// some 10 ns an element.
std::vector<std::byte> ExpectedAnswer(DType dtype, float alpha, std::span<const std::byte> x);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_EXPECTED_ANSWER_H_
