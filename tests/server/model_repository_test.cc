// A directory of model files and what becomes of it in the catalog, poll by poll.
#include "server/models/model_repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/server/model_directory.h"

namespace trelu::server {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::ChainModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kNoThread;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

class ModelRepositoryPoll : public testing::ModelDirectory {};

TEST_F(ModelRepositoryPoll, LoadsAllAtStart) {
  WriteModel("relu/1", 0.5F);
  WriteModel("relu/12", 1.5F);
  WriteModel("other.name-2/3", 2.5F);
  Start();
  EXPECT_THAT(Index(), ElementsAre("other.name-2/3 READY [2.5]", "relu/1 READY [0.5]",
                                   "relu/12 READY [1.5]"));
  const auto model = catalog.Find("relu", "");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->name, "relu");
  EXPECT_EQ((*model)->version, 12);
  EXPECT_EQ((*model)->platform, "onnx_onnxv1");
}

TEST_F(ModelRepositoryPoll, StartsEmpty) {
  Start();
  EXPECT_THAT(Index(), IsEmpty());
}

TEST_F(ModelRepositoryPoll, FailsToStartOnlyWhereNothingCanBeListed) {
  const auto started = ModelRepository::Start(directory / "nowhere", kNoThread, catalog);
  EXPECT_EQ(started.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(started.status()),
              AllOf(HasSubstr("--model-repository"), HasSubstr("No such file")));
}

TEST_F(ModelRepositoryPoll, IgnoresWhatIsNoModel) {
  for (const char* ignored :
       {"relu/0", "relu/-1", "relu/01", "relu/1a", "relu/latest", "relu/9223372036854775808",
        ".hidden/1", "not\nprintable/1", "n\xc3\xa4mlich/1"}) {
    WriteModel(ignored, 1);
  }
  std::ofstream(directory / "README.md") << "text";
  fs::create_directories(directory / "empty" / "1");
  fs::create_directories(directory / "without");
  Start();
  EXPECT_THAT(Index(), IsEmpty());
}

TEST_F(ModelRepositoryPoll, SaysOnceWhichDirectoriesItDoesNotUse) {
  for (const char* unused : {"tab\there/1", "n\xc3\xa4mlich/1", "relu/latest", ".hidden/1"}) {
    WriteModel(unused, 1);
  }
  ::testing::internal::CaptureStderr();
  Start();
  repository->Poll();
  EXPECT_EQ(repository->Load("n\xc3\xa4mlich").code(), absl::StatusCode::kNotFound);
  const std::string log = ::testing::internal::GetCapturedStderr();
  std::vector<std::string> told;
  for (const std::string_view line : {"mlich", "here", "relu", "hidden"}) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = log.find(line, at)) != std::string::npos; ++at) ++times;
    told.push_back(std::string(line) + " " + std::to_string(times));
  }
  EXPECT_THAT(told, ElementsAre("mlich 1", "here 1", "relu 1", "hidden 0")) << log;
  EXPECT_THAT(log,
              AllOf(HasSubstr("model directory not used"), HasSubstr("not of printable ASCII")));
}

TEST_F(ModelRepositoryPoll, FollowsSymbolicLinks) {
  // As Kubernetes mounts a ConfigMap: everything by way of a hidden link that is exchanged.
  WriteModel(".first/relu/1", 1);
  WriteModel(".second/relu/1", 2);
  fs::create_directory_symlink(".first", directory / "..data");
  fs::create_directory_symlink("..data/relu", directory / "relu");
  Start();
  EXPECT_THAT(Index(), ElementsAre("relu/1 READY [1.0]"));
  fs::create_directory_symlink(".second", directory / "..new");
  fs::rename(directory / "..new", directory / "..data");
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("relu/1 READY [2.0]"));
}

TEST_F(ModelRepositoryPoll, PollLoadsWhatIsNewAndForgetsWhatIsGone) {
  WriteModel("a/1", 1);
  WriteModel("b/1", 1);
  Start();
  const auto in_flight = *catalog.Find("a", "1");
  WriteModel("a/2", 2);
  WriteModel("c/1", 3);
  fs::remove_all(directory / "a" / "1");
  fs::remove_all(directory / "b");
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/2 READY [2.0]", "c/1 READY [3.0]"));
  EXPECT_EQ(catalog.Find("a", "1").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(in_flight->alpha, 1.0F);
}

TEST_F(ModelRepositoryPoll, PollLeavesWhatIsUnchanged) {
  WriteModel("a/1", 1);
  Start();
  const auto before = *catalog.Find("a", "");
  repository->Poll();
  EXPECT_EQ(*catalog.Find("a", ""), before);
}

TEST_F(ModelRepositoryPoll, ARefusedFileHarmsNoOther) {
  WriteModel("a/1", 1);
  Write("a/2", "no model");
  Write("b/1", "");
  Start();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]",
                                   "a/2 UNAVAILABLE not an ONNX model: protobuf cannot parse it",
                                   "b/1 UNAVAILABLE model.onnx: is empty"));
  EXPECT_EQ((*catalog.Find("a", ""))->version, 1);
}

TEST_F(ModelRepositoryPoll, AHalfCopiedFileHealsWhenItIsWhole) {
  const std::string whole = ChainModel({2}).SerializeAsString();
  WriteModel("a/1", 1);
  Write("b/1", whole.substr(0, whole.size() / 2));
  Start();
  Write("a/1", whole.substr(0, whole.size() / 2));
  repository->Poll();
  const std::string reason = "not an ONNX model: protobuf cannot parse it";
  EXPECT_THAT(Index(), ElementsAre("a/1 READY " + reason + "[1.0]", "b/1 UNAVAILABLE " + reason));
  EXPECT_TRUE(catalog.Find("a", "").ok());
  Write("a/1", whole);
  Write("b/1", whole);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [2.0]", "b/1 READY [2.0]"));
}

// Running as root, everything can be read; so the unreadable is what nobody can read.
TEST_F(ModelRepositoryPoll, WhatIsNoFileIsRefusedAndNeverWaitedFor) {
  for (const char* model : {"directory/1", "pipe/1", "loop/1"}) {
    fs::create_directories(File(model).parent_path());
  }
  fs::create_directory(File("directory/1"));
  ASSERT_EQ(mkfifo(File("pipe/1").c_str(), 0600), 0);
  fs::create_symlink("model.onnx", File("loop/1"));
  Write("large/1", std::string((std::size_t{1} << 20) + 1, '\0'));
  Start();
  EXPECT_THAT(Index(),
              ElementsAre("directory/1 UNAVAILABLE model.onnx: expected a regular file",
                          "large/1 UNAVAILABLE file = 1048577 bytes: expected at most 1048576",
                          HasSubstr("loop/1 UNAVAILABLE cannot open model.onnx: Too many"),
                          "pipe/1 UNAVAILABLE model.onnx: expected a regular file"));
  fs::remove(File("pipe/1"));
  WriteModel("pipe/1", 1);
  repository->Poll();
  EXPECT_THAT(Index(), ::testing::Contains("pipe/1 READY [1.0]"));
}

TEST_F(ModelRepositoryPoll, ADirectoryThatCannotBeListedIsToldWithoutAVersion) {
  WriteModel("a/1", 1);
  fs::create_symlink("loop", directory / "loop");
  Start();
  const std::string reason = "cannot list the model's directory: Too many levels of symbolic links";
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]", "loop/0 UNAVAILABLE " + reason));
  EXPECT_EQ(Message(catalog.Find("loop", "").status()), "model 'loop': not ready: " + reason);
  EXPECT_EQ(repository->Load("loop"), absl::UnavailableError(reason));
  fs::remove(directory / "loop");
  WriteModel("loop/1", 2);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]", "loop/1 READY [2.0]"));
}

// A change of permissions alone leaves the stamp as it was. As root, this thread looks at files as
// somebody else (setfsuid(2)).
TEST_F(ModelRepositoryPoll, AFileThatCannotBeReadIsTriedAgain) {
  Start();
  WriteModel("a/1", 1);
  fs::permissions(directory, fs::perms::all);
  fs::permissions(File("a/1"), fs::perms::none);
  if (geteuid() == 0) setfsuid(54321);
  repository->Poll();
  setfsuid(geteuid());
  EXPECT_THAT(Index(), ElementsAre("a/1 UNAVAILABLE cannot open model.onnx: Permission denied"));
  fs::permissions(File("a/1"), fs::perms::owner_all);
  repository->Poll();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
}

TEST_F(ModelRepositoryPoll, ItsThreadPolls) {
  Start(std::chrono::milliseconds(1));
  WriteModel("a/1", 1);
  while (!catalog.Find("a", "").ok()) std::this_thread::yield();
  EXPECT_THAT(Index(), ElementsAre("a/1 READY [1.0]"));
}

TEST_F(ModelRepositoryPoll, StopsWithoutWaitingForTheNextPoll) {
  // A stop that is not heard hangs until the test's time limit. Polling gives the thread time to
  // begin its wait; some of the rounds are slow enough.
  for (int round = 0; round < 20; ++round) {
    Start(std::chrono::hours(24));
    for (int poll = 0; poll < 300; ++poll) repository->Poll();
    repository.reset();
  }
}

TEST_F(ModelRepositoryPoll, LoadsAThousand) {
  WriteModel(".one/1", 0.5F);
  for (int i = 0; i < 1000; ++i) {
    fs::create_directory_symlink(".one", directory / ("model" + std::to_string(i)));
  }
  Start();
  EXPECT_EQ(catalog.Ready("").size(), 1000 + BuiltInModels().size());
  repository->Poll();
  EXPECT_EQ(catalog.Ready("").size(), 1000 + BuiltInModels().size());
}

}  // namespace
}  // namespace trelu::server
