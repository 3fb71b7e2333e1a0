// Test parameters that every test of the kernel shares: each dtype on each level of this processor.
#ifndef TRELU_TESTS_CORE_KERNEL_GRID_H_
#define TRELU_TESTS_CORE_KERNEL_GRID_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/thresholded_relu.h"

namespace trelu::testing {

struct KernelParameter {
  DType dtype;
  KernelLevel level;
};

inline std::vector<KernelParameter> AllKernels() {
  std::vector<KernelParameter> kernels;
  for (const KernelLevel level : SupportedKernelLevels()) {
    for (const DType dtype : kAllDTypes) kernels.push_back({dtype, level});
  }
  return kernels;
}

inline std::string KernelName(const ::testing::TestParamInfo<KernelParameter>& info) {
  std::string name =
      std::string(Name(info.param.dtype)) + "_" + std::string(Name(info.param.level));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_CORE_KERNEL_GRID_H_
