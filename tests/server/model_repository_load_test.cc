// Models loaded and unloaded because somebody asked, while others read.
#include "server/models/model_repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/model_directory.h"

namespace trelu::server {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class ModelRepositoryLoad : public testing::ModelDirectory {};

TEST_F(ModelRepositoryLoad, KeepsAllWhenTheDirectoryIsLost) {
  directory /= "models";
  WriteModel("a/1", 1);
  Start();
  const fs::path elsewhere = root / "elsewhere";
  fs::rename(directory, elsewhere);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
  EXPECT_EQ(repository->Load("a").code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(repository->Unload("a").ok());
  EXPECT_EQ(repository->Load("a").code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Index(), ElementsAre("a/1 UNAVAILABLE unloaded"));
  fs::rename(elsewhere, directory);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 UNAVAILABLE unloaded"));
}

TEST_F(ModelRepositoryLoad, UnloadedStaysUnloadedUntilLoad) {
  WriteModel("a/1", 1);
  WriteModel("b/1", 1);
  Start();
  const auto in_flight = *catalog.Find("a", "");
  ASSERT_TRUE(repository->Unload("a").ok());
  const auto unloaded = ElementsAre("a/1 UNAVAILABLE unloaded", "b/1 READY [1.0]");
  EXPECT_THAT(Index(), unloaded);
  EXPECT_EQ(in_flight->alpha, 1.0F);
  WriteModel("a/1", 2);
  repository->Poll();
  EXPECT_THAT(Index(), unloaded);
  EXPECT_TRUE(repository->Unload("a").ok());
  fs::rename(directory / "a", directory / ".a");
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("b/1 READY [1.0]"));
  fs::rename(directory / ".a", directory / "a");
  WriteModel("a/2", 3);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 UNAVAILABLE unloaded", "a/2 UNAVAILABLE unloaded",
                                   "b/1 READY [1.0]"));
  ASSERT_TRUE(repository->Load("a").ok());
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]", "a/2 READY [3.0]", "b/1 READY [1.0]"));
  WriteModel("a/1", 4);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [4.0]", "a/2 READY [3.0]", "b/1 READY [1.0]"));
}

TEST_F(ModelRepositoryLoad, UnloadNeedsNoPollBefore) {
  Start();
  WriteModel("a/1", 1);
  EXPECT_TRUE(repository->Unload("a").ok());
  EXPECT_THAT(Index(), ElementsAre("a/1 UNAVAILABLE unloaded"));
}

TEST_F(ModelRepositoryLoad, LoadReadsWhatIsUnchangedToo) {
  WriteModel("a/1", 1);
  Start();
  const auto before = *catalog.Find("a", "");
  ASSERT_TRUE(repository->Load("a").ok());
  EXPECT_NE(*catalog.Find("a", ""), before);
  WriteModel("new/1", 2);
  ASSERT_TRUE(repository->Load("new").ok());
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]", "new/1 READY [2.0]"));
}

TEST_F(ModelRepositoryLoad, LoadSaysWhyAFileIsRefused) {
  WriteModel("a/1", 1);
  Start();
  ASSERT_TRUE(repository->Unload("a").ok());
  Write("a/1", "no model");
  WriteModel("a/2", 2);
  EXPECT_EQ(repository->Load("a"),
            absl::FailedPreconditionError(
                "model 'a' version 1: not an ONNX model: protobuf cannot parse it"));
  EXPECT_THAT(Index(), ElementsAre("a/1 UNAVAILABLE not an ONNX model: protobuf cannot parse it",
                                   "a/2 READY [2.0]"));
  WriteModel("a/1", 3);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [3.0]", "a/2 READY [2.0]"));
}

TEST_F(ModelRepositoryLoad, NamesFromCallersAreNoPaths) {
  directory /= "models";
  WriteModel("a/1", 1);
  WriteModel("../outside/1", 1);
  Start();
  for (const std::string& name : std::vector<std::string>{
           "../outside", "a/../../outside", "a/", "./a", ".", "..", "", root / "outside",
           "unknown\n", std::string("a\0b", 3), std::string("a\0", 2)}) {
    EXPECT_EQ(repository->Load(name).code(), absl::StatusCode::kNotFound) << name;
    EXPECT_EQ(repository->Unload(name).code(), absl::StatusCode::kNotFound) << name;
  }
  EXPECT_EQ(Message(repository->Load("unknown\n")),
            "model 'unknown\\x0a': not in the model repository");
  EXPECT_LT(Message(repository->Load(std::string(100000, 'x'))).size(), 200U);
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
}

TEST_F(ModelRepositoryLoad, AnUnloadThatFoundNothingLeavesNoTrace) {
  fs::create_directory(directory / "a");
  Start();
  EXPECT_EQ(repository->Unload("a").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(repository->Load("a").code(), absl::StatusCode::kNotFound);
  WriteModel("a/1", 1);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
}

TEST_F(ModelRepositoryLoad, BuiltInNamesAreRefused) {
  WriteModel("thresholded_relu/1", 5);
  WriteModel("thresholded_relu/2", 5);
  Start();
  const auto found = *catalog.Find("thresholded_relu", "");
  EXPECT_EQ(found->platform, "trelu");
  const std::string reason = "the name is a built-in model's";
  for (const ModelState& state : catalog.Index(false)) {
    EXPECT_EQ(state.reason, state.name == "thresholded_relu" ? reason : "") << state.name;
  }
  EXPECT_EQ(catalog.Find("thresholded_relu", "2").status().code(), absl::StatusCode::kUnavailable);
  for (const char* name : {"thresholded_relu", "thresholded_relu_fp32"}) {
    EXPECT_EQ(repository->Load(name).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(repository->Unload(name).code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(*catalog.Find("thresholded_relu", ""), found);
}

TEST_F(ModelRepositoryLoad, StatisticsSurviveReloadAndUnload) {
  WriteModel("a/1", 1);
  WriteModel("a/2", 1);
  Start();
  (*catalog.Find("a", "1"))->statistics->Record({}, true);
  WriteModel("a/1", 2);
  repository->Poll();
  (*catalog.Find("a", "1"))->statistics->Record({}, true);
  ASSERT_TRUE(repository->Unload("a").ok());
  ASSERT_TRUE(repository->Load("a").ok());
  EXPECT_EQ((*catalog.Find("a", "1"))->statistics->Read().success.count, 2U);
  EXPECT_EQ((*catalog.Find("a", "2"))->statistics->Read().success.count, 0U);
}

TEST_F(ModelRepositoryLoad, ReadersNeverSeeAModelHalfDone) {
  WriteModel("a/1", 1);
  WriteModel("b/1", 1);
  Start(std::chrono::milliseconds(1));
  std::atomic<bool> done{false};
  std::atomic<int> found{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        // One is taken away and brought back, the other always there.
        const auto a = catalog.Find("a", "");
        if (a.ok()) {
          EXPECT_EQ((*a)->name, "a");
          EXPECT_TRUE((*a)->alpha == 1.0F || (*a)->alpha == 2.0F);
          (*a)->statistics->Record({}, true);
          ++found;
        } else {
          EXPECT_EQ(a.status().code(), absl::StatusCode::kUnavailable);
        }
        EXPECT_TRUE(catalog.Find("b", "1").ok());
        EXPECT_GE(catalog.Index(false).size(), 2U);
      }
    });
  }
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    WriteModel("a/1", static_cast<float>(1 + round % 2));
    EXPECT_TRUE(repository->Load("b").ok());
    EXPECT_TRUE(repository->Unload("a").ok());
    EXPECT_TRUE(repository->Load("a").ok());
    for (const int before = found; found == before;) std::this_thread::yield();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ((*catalog.Find("a", ""))->statistics->Read().success.count,
            static_cast<std::uint64_t>(found));
}

}  // namespace
}  // namespace trelu::server
