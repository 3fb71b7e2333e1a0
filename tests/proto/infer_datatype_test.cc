#include "proto/infer_datatype.h"

#include <gtest/gtest.h>

namespace trelu {
namespace {

TEST(OpenInferenceName, LeadsThereAndBack) {
  EXPECT_EQ(OpenInferenceName(DType::kFloat16), "FP16");
  EXPECT_EQ(OpenInferenceName(DType::kBFloat16), "BF16");
  EXPECT_EQ(OpenInferenceName(DType::kFloat32), "FP32");
  EXPECT_EQ(OpenInferenceName(DType::kFloat64), "FP64");
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(DTypeFromOpenInferenceName(OpenInferenceName(dtype)), dtype);
  }
  for (const char* other : {"", "fp32", "FP32 ", "FLOAT", "INT32", "FP"}) {
    EXPECT_FALSE(DTypeFromOpenInferenceName(other)) << other;
  }
}

}  // namespace
}  // namespace trelu
