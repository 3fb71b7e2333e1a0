// Reads the operator's conformance vectors (tests/conformance/README.md), for tests of every layer.
#ifndef TRELU_TESTS_SUPPORT_CONFORMANCE_H_
#define TRELU_TESTS_SUPPORT_CONFORMANCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trelu/dtype.h"

namespace trelu::testing {

// One line of edge_cases.jsonl. A result is right when its bytes equal `output`.
struct ConformanceCase {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> opsets;  // ai.onnx versions that the case is good for
  std::vector<std::int64_t> shape;
  std::optional<float> alpha;  // nothing: send no alpha at all
  std::int64_t passed;         // elements above alpha
  std::vector<std::byte> input;
  std::vector<std::byte> output;
};

// One line of exhaustive_f16.tsv or exhaustive_bf16.tsv: the input is all 65536 bit patterns in
// order.
struct ExhaustiveCase {
  float alpha;
  std::int64_t passed;
  std::string sha256;  // of the result's 131072 bytes, lower-case hex
};

// Of the directory that TRELU_CONFORMANCE_DIR names. They throw when a file is missing or
// malformed, which fails the test that asks.
std::vector<ConformanceCase> LoadEdgeCases();
std::vector<ConformanceCase> LoadEdgeCases(const std::string& path);
std::vector<ExhaustiveCase> LoadExhaustiveCases(DType dtype);

// The input of every exhaustive case.
std::vector<std::byte> AllBitPatterns16();

// Lower-case hex.
std::string Sha256(const std::vector<std::byte>& bytes);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_CONFORMANCE_H_
