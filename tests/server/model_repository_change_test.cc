// Files and directories that change while the repository looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "server/models/model_repository.h"
#include "tests/server/model_directory.h"

namespace trelu::server {
namespace {

namespace fs = std::filesystem;
using testing::ChainModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ModelRepositoryChange : public testing::ModelDirectory {};

TEST_F(ModelRepositoryChange, IsSeenThoughSizeAndTimeStay) {
  WriteModel("a/1", 1);
  Start();
  const auto time = fs::last_write_time(File("a/1"));
  WriteModel("a/1", 2);
  fs::last_write_time(File("a/1"), time);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]"));
}

TEST_F(ModelRepositoryChange, IsSeenThoughOnlyTheTimeIsAnother) {
  WriteModel("a/1", 1);
  Start();
  const auto time = fs::last_write_time(File("a/1"));
  std::ofstream(File("a/1"), std::ios::binary) << ChainModel({2}).SerializeAsString();
  fs::last_write_time(File("a/1"), time + std::chrono::nanoseconds(1));
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]"));
}

TEST_F(ModelRepositoryChange, WaitsUntilTheFileRests) {
  WriteModel("a/1", 1);
  Start();
  WriteInPlace("a/1", ChainModel({2}).SerializeAsString());
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
  Age(File("a/1"));
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]"));
}

TEST_F(ModelRepositoryChange, DoesNotWaitWhereThereIsNothingElse) {
  WriteInPlace("a/1", ChainModel({1}).SerializeAsString());
  Start();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
  WriteInPlace("a/2", ChainModel({2}).SerializeAsString());
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]", "a/2 READY [2.0]"));
}

TEST_F(ModelRepositoryChange, DoesNotWaitWhenLoadIsAsked) {
  WriteModel("a/1", 1);
  Start();
  WriteInPlace("a/1", ChainModel({2}).SerializeAsString());
  EXPECT_TRUE(repository->Load("a").ok());
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]"));
}

// Two writes within one tick of the file system's clock leave the same stamp.
TEST_F(ModelRepositoryChange, IsFoundLaterWhereTheStampCannotShowIt) {
  WriteInPlace("a/1", ChainModel({1}).SerializeAsString());
  Start();
  const auto time = fs::last_write_time(File("a/1"));
  WriteInPlace("a/1", ChainModel({2}).SerializeAsString());
  fs::last_write_time(File("a/1"), time);
  // For two seconds until the file rests; for ever if the stamp was believed.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Index().front() != "a/1 READY [2.0]") {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    repository->Poll();
  }
}

TEST_F(ModelRepositoryChange, IsTakenAtOnceFromAClockThatIsAhead) {
  WriteModel("a/1", 1);
  Start();
  WriteModel("a/1", 2);
  fs::last_write_time(File("a/1"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]"));
}

TEST_F(ModelRepositoryChange, ThatIsNoneLeavesTheModelAndTheLogAlone) {
  WriteModel("a/1", 1);
  Start();
  const auto before = *catalog.Find("a", "");
  Age(File("a/1"));
  ::testing::internal::CaptureStderr();
  repository->Poll();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(*catalog.Find("a", ""), before);
}

TEST_F(ModelRepositoryChange, FromADirectoryToAFileEndsTheModel) {
  WriteModel("a/1", 1);
  Start();
  fs::remove_all(directory / "a");
  std::ofstream(directory / "a") << "no directory";
  repository->Poll();
  EXPECT_THAT(Index(), IsEmpty());
  EXPECT_EQ(repository->Load("a").code(), absl::StatusCode::kNotFound);
}

TEST_F(ModelRepositoryChange, ThatMendsAModelIsSaid) {
  WriteModel("a/1", 1);
  Start();
  Write("a/1", "junk");
  repository->Poll();
  WriteModel("a/1", 1);
  ::testing::internal::CaptureStderr();
  repository->Poll();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("model loaded"));
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
}

// As a directory is deployed by renaming a symbolic link to it, after which the old one is deleted:
// at every moment there is a version.
class ModelRepositoryExchange : public testing::ModelDirectory,
                                public ::testing::WithParamInterface<const char*> {
 protected:
  ModelRepositoryExchange() {
    directory = root / "models";
    fs::create_directories(Link().parent_path());
    Deploy(0);
  }

  // By turns a version 1 and a version 2 where the link is above them.
  void Deploy(int number) const {
    const bool above = std::string_view(GetParam()).size() < 3;
    const fs::path version = Tree(number) / "a" / (above && number % 2 == 1 ? "2" : "1");
    fs::create_directories(version);
    std::ofstream(version / "model.onnx", std::ios::binary) << ChainModel({1}).SerializeAsString();
    fs::create_symlink(Tree(number).string() + GetParam(), root / "new");
    fs::rename(root / "new", Link());
    if (number > 0) fs::remove_all(Tree(number - 1));
  }

 private:
  fs::path Tree(int number) const { return root / std::to_string(number); }
  fs::path Link() const { return directory.string() + GetParam(); }
};

TEST_P(ModelRepositoryExchange, LosesNoModel) {
  Start();
  int lost = 0;
  ::testing::internal::CaptureStderr();  // it says how often it was hurried
  for (int i = 1; i <= 500; ++i) {
    std::thread deployment([&] { Deploy(i); });
    if (i % 2 == 0) {
      repository->Poll();
    } else {
      const absl::Status loaded = repository->Load("a");
      EXPECT_TRUE(loaded.ok() || absl::IsUnavailable(loaded)) << loaded;
    }
    if (!catalog.Find("a", "").ok()) ++lost;
    deployment.join();
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(lost, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, ModelRepositoryExchange,
                         ::testing::Values("", "/a", "/a/1", "/a/1/model.onnx"),
                         [](const auto& test) {
                           const std::string_view link = test.param;
                           return link.empty()     ? "TheRepository"
                                  : link == "/a"   ? "AModel"
                                  : link == "/a/1" ? "AVersion"
                                                   : "AFile";
                         });

TEST_F(ModelRepositoryChange, OfTheDirectorysNameLosesNoModel) {
  WriteModel("models/a/1", 1);
  directory = root / "models";
  Start();
  std::atomic<bool> done = false;
  std::thread mover([&] {
    while (!done) {
      fs::rename(directory, root / "away");
      fs::rename(root / "away", directory);
    }
  });
  int lost = 0;
  ::testing::internal::CaptureStderr();  // it says, once a second, that there is nothing to list
  for (int i = 0; i < 1000; ++i) {
    repository->Poll();
    if (!catalog.Find("a", "").ok()) ++lost;
  }
  ::testing::internal::GetCapturedStderr();
  done = true;
  mover.join();
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace trelu::server
