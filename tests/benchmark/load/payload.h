// The elements that a benchmark sends, and what must come of them.
#ifndef TRELU_TESTS_BENCHMARK_LOAD_PAYLOAD_H_
#define TRELU_TESTS_BENCHMARK_LOAD_PAYLOAD_H_

#include <cstddef>
#include <string>

namespace trelu::benchmark {

// Not the operator's default.
inline constexpr float kAlpha = -0.5F;

// float32, on both sides of alpha, in an order that no branch predictor learns, among them NaN and
// both zeros.
std::string MakePayload(std::size_t bytes);

// What the operator makes of it, bit for bit.
std::string OperatorOf(const std::string& x);

// Ends the process with a line that says so.
[[noreturn]] void Fail(const std::string& what);

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_LOAD_PAYLOAD_H_
