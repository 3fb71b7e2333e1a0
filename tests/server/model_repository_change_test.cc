// Files and directories that change while the repository looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "server/models/model_repository.h"
#include "tests/server/model_directory.h"

namespace trelu::server {
namespace {

namespace fs = std::filesystem;
using testing::ChainModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  // For the second until the file rests; for ever if the stamp was believed.
  while (Index().front() != "a/1 READY [2.0]") repository->Poll();
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

// As a directory is deployed by renaming a symbolic link to it, after which the old one is deleted:
// at every moment there is a version.
class ModelRepositoryExchange : public testing::ModelDirectory,
                                public ::testing::WithParamInterface<const char*> {
 protected:
  // By turns a version 1 and a version 2, each in a tree of its own.
  void Deploy(int number) const {
    const fs::path tree = Tree(number);
    const fs::path version = tree / "a" / std::to_string(number % 2 + 1);
    fs::create_directories(version);
    std::ofstream(version / "model.onnx", std::ios::binary) << ChainModel({1}).SerializeAsString();
    fs::create_directory_symlink(tree.string() + GetParam(), root / "new");
    fs::rename(root / "new", directory.string() + GetParam());
    if (number > 0) fs::remove_all(Tree(number - 1));
  }

 private:
  fs::path Tree(int number) const { return root / std::to_string(number); }
};

TEST_P(ModelRepositoryExchange, LosesNoModel) {
  directory = root / "models";
  if (*GetParam() != '\0') fs::create_directory(directory);
  Deploy(0);
  Start();
  int lost = 0;
  for (int i = 1; i <= 2000; ++i) {
    std::thread deployment([&] { Deploy(i); });
    repository->Poll();
    if (!catalog.Find("a", "").ok()) ++lost;
    deployment.join();
  }
  EXPECT_EQ(lost, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, ModelRepositoryExchange, ::testing::Values("", "/a"),
                         [](const auto& test) {
                           return *test.param == '\0' ? "TheRepository" : "AModel";
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
  for (int i = 0; i < 3000; ++i) {
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
