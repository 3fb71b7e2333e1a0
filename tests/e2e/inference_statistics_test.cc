// ModelStatistics over the wire: which times are which, and whose they are.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "tests/e2e/gated_server.h"
#include "tests/support/inference_methods.h"

namespace trelu::testing {
namespace {

constexpr char kModel[] = "thresholded_relu";

class InferenceStatistics : public GatedServer {
 protected:
  Told<inference::ModelStatisticsResponse> Statistics(const std::string& name,
                                                      const std::string& version) {
    inference::ModelStatisticsRequest request;
    request.set_name(name);
    request.set_version(version);
    return Ask<inference::ModelStatisticsResponse>(client_, "ModelStatistics", request);
  }
  inference::ModelStatistics OfTheModel() {
    const auto told = Statistics(kModel, "");
    EXPECT_TRUE(told.status.ok()) << told.status.error_message();
    EXPECT_EQ(told.response.model_stats_size(), 1);
    return told.response.model_stats_size() == 1 ? told.response.model_stats(0)
                                                 : inference::ModelStatistics();
  }
  grpc::Status Infer() {
    return client_.Call(kModelInfer, ToInferRequest(Tensor(1 << 20)).SerializeAsString()).status;
  }
};

TEST_F(InferenceStatistics, QueueIsTheWaitForAWorkerAndComputeInferTheKernel) {
  constexpr std::chrono::milliseconds kWait(200);
  auto status = std::async(std::launch::async, [&] { return Infer(); });
  gate_->WaitForKept(1);
  EXPECT_TRUE(Eventually([past = std::chrono::steady_clock::now() + kWait] {
    return std::chrono::steady_clock::now() > past;
  }));
  gate_->Open();
  ASSERT_TRUE(status.get().ok());
  const inference::InferStatistics times = OfTheModel().inference_stats();
  EXPECT_GE(times.queue().ns(), std::chrono::nanoseconds(kWait).count());
  EXPECT_GT(times.compute_infer().ns(), 0);
  EXPECT_LE(times.compute_input().ns() + times.queue().ns() + times.compute_infer().ns() +
                times.compute_output().ns(),
            times.success().ns());
}

TEST_F(InferenceStatistics, EveryExecutionIsABatchOfOne) {
  gate_->Open();
  EXPECT_EQ(OfTheModel().batch_stats_size(), 0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Infer().ok());
  const inference::ModelStatistics statistics = OfTheModel();
  ASSERT_EQ(statistics.batch_stats_size(), 1);
  const inference::InferBatchStatistics& batch = statistics.batch_stats(0);
  const inference::InferStatistics& times = statistics.inference_stats();
  EXPECT_EQ(batch.batch_size(), 1U);
  EXPECT_EQ(batch.compute_infer().count(), 3U);
  EXPECT_EQ(batch.compute_input().SerializeAsString(), times.compute_input().SerializeAsString());
  EXPECT_EQ(batch.compute_infer().SerializeAsString(), times.compute_infer().SerializeAsString());
  EXPECT_EQ(batch.compute_output().SerializeAsString(), times.compute_output().SerializeAsString());
}

struct Asked {
  const char* name;
  const char* model;
  const char* version;
  int models = 0;
  grpc::StatusCode code = grpc::OK;
};

class InferenceStatisticsOf : public InferenceStatistics,
                              public ::testing::WithParamInterface<Asked> {};

TEST_P(InferenceStatisticsOf, ModelAndVersion) {
  const auto told = Statistics(GetParam().model, GetParam().version);
  EXPECT_EQ(told.status.error_code(), GetParam().code) << told.status.error_message();
  EXPECT_EQ(told.response.model_stats_size(), GetParam().models);
  if (GetParam().models == 1) {
    EXPECT_EQ(told.response.model_stats(0).version(), "1");
  }
}

// As in Triton, a version without a name changes nothing.
INSTANTIATE_TEST_SUITE_P(
    All, InferenceStatisticsOf,
    ::testing::Values(Asked{"Named", kModel, "", 1}, Asked{"NamedWithVersion", kModel, "1", 1},
                      Asked{"UnknownVersion", kModel, "77", 0, grpc::NOT_FOUND},
                      Asked{"NoVersion", kModel, "one", 0, grpc::INVALID_ARGUMENT},
                      Asked{"UnknownName", "none", "", 0, grpc::NOT_FOUND},
                      Asked{"UnknownNameWithVersion", "none", "1", 0, grpc::NOT_FOUND},
                      Asked{"AllModels", "", "", 5}, Asked{"AllModelsWithVersion", "", "1", 5},
                      Asked{"AllModelsWithUnknownVersion", "", "77", 5}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trelu::testing
