// The published vectors, on every level, whole and cut at every byte.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/segments.h"
#include "core/thresholded_relu.h"
#include "tests/core/cut_copy.h"
#include "tests/core/kernel_grid.h"
#include "tests/support/conformance.h"
#include "trelu/tensor_spec.h"

namespace trelu {
namespace {

using testing::AllBitPatterns16;
using testing::ConformanceCase;
using testing::CutCopy;
using testing::ExhaustiveCase;
using testing::KernelParameter;

constexpr std::size_t kEdgeCases = 1054;

const std::vector<ConformanceCase>& EdgeCases() {
  static const std::vector<ConformanceCase> cases = testing::LoadEdgeCases();
  return cases;
}

TEST(ConformanceVectors, AreAllThere) {
  EXPECT_EQ(EdgeCases().size(), kEdgeCases);
  std::set<std::string> names;
  for (const ConformanceCase& one : EdgeCases()) {
    names.insert(one.name);
    const auto spec = TensorSpec::Create(one.dtype, one.shape);
    ASSERT_TRUE(spec.ok()) << one.name << ": " << spec.status();
    EXPECT_EQ(spec->bytes(), one.input.size()) << one.name;
    EXPECT_EQ(spec->bytes(), one.output.size()) << one.name;
  }
  EXPECT_EQ(names.size(), kEdgeCases);
}

class Conformance : public ::testing::TestWithParam<KernelParameter> {
 protected:
  static std::vector<const ConformanceCase*> CasesOfDType() {
    std::vector<const ConformanceCase*> cases;
    for (const ConformanceCase& one : EdgeCases()) {
      if (one.dtype == GetParam().dtype) cases.push_back(&one);
    }
    return cases;
  }

  static ThresholdedRelu OpOf(const ConformanceCase& one) {
    return {one.dtype, one.alpha.value_or(kDefaultAlpha), GetParam().level};
  }
};

TEST_P(Conformance, OutOfPlaceAndInPlace) {
  for (const ConformanceCase* one : CasesOfDType()) {
    std::vector<std::byte> y(one->input.size());
    OpOf(*one).Apply(one->input, y.data());
    EXPECT_TRUE(y == one->output) << one->name << " out of place";
    std::vector<std::byte> x = one->input;
    OpOf(*one).Apply(x, x.data());
    EXPECT_TRUE(x == one->output) << one->name << " in place";
  }
}

void CheckCut(const ThresholdedRelu& op, const ConformanceCase& one,
              const std::vector<std::size_t>& cuts) {
  const CutCopy copy(one.input, cuts);
  std::vector<std::byte> y(one.input.size());
  copy.segments().Apply(op, 0, y.size(), y.data());
  ASSERT_TRUE(y == one.output) << one.name << " out of place";
  ASSERT_TRUE(copy.Joined() == one.input) << one.name << " input changed";
  copy.segments().ApplyInPlace(op, 0, y.size());
  ASSERT_TRUE(copy.Joined() == one.output) << one.name << " in place";
}

TEST_P(Conformance, CutInTwoAtEveryByte) {
  for (const ConformanceCase* one : CasesOfDType()) {
    for (std::size_t cut = 0; cut <= one->input.size(); ++cut) {
      CheckCut(OpOf(*one), *one, {cut});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Conformance, CutEveryFewBytes) {
  for (const ConformanceCase* one : CasesOfDType()) {
    for (const std::size_t range_bytes : {1, 2, 3, 5, 7, 13}) {
      CheckCut(OpOf(*one), *one, testing::CutsEvery(range_bytes, one->input.size()));
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, Conformance, ::testing::ValuesIn(testing::AllKernels()),
                         testing::KernelName);

class ExhaustiveConformance : public Conformance {};

TEST_P(ExhaustiveConformance, AllBitPatternsForEveryAlpha) {
  const std::vector<std::byte> x = AllBitPatterns16();
  const std::vector<ExhaustiveCase> cases = testing::LoadExhaustiveCases(GetParam().dtype);
  ASSERT_EQ(cases.size(), 64U);
  for (const ExhaustiveCase& one : cases) {
    std::vector<std::byte> y(x.size());
    ThresholdedRelu(GetParam().dtype, one.alpha, GetParam().level).Apply(x, y.data());
    EXPECT_EQ(testing::Sha256(y), one.sha256) << "alpha " << one.alpha;
  }
}

std::vector<KernelParameter> Kernels16() {
  std::vector<KernelParameter> kernels = testing::AllKernels();
  std::erase_if(kernels,
                [](const KernelParameter& kernel) { return ElementBytes(kernel.dtype) != 2; });
  return kernels;
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, ExhaustiveConformance, ::testing::ValuesIn(Kernels16()),
                         testing::KernelName);

}  // namespace
}  // namespace trelu
