#include "client/command/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/command/files.h"

namespace trelu::command {
namespace {

TEST(OutputFile, AppearsWhenItIsComplete) {
  const TemporaryFolder folder;
  const auto file = *OutputFile::Create(folder.Path("y"));
  ASSERT_TRUE(file->Write(AsBytes("ab")).ok());
  ASSERT_TRUE(file->Write(AsBytes("cd")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.Path("y")));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(folder.Path("y")), "abcd");
  EXPECT_EQ(folder.FileCount(), 1U);
}

TEST(OutputFile, LeavesTheOldFileUntilThen) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("y", "old");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  {
    const auto file = *OutputFile::Create(path);
    ASSERT_TRUE(file->Write(AsBytes("new")).ok());
    EXPECT_EQ(ReadFile(path), "old");
  }
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(folder.FileCount(), 1U);

  const auto file = *OutputFile::Create(path);
  ASSERT_TRUE(file->Write(AsBytes("new")).ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(OutputFile, KeepsASymbolicLink) {
  const TemporaryFolder folder;
  folder.Write("y", "old");
  std::filesystem::create_symlink("y", folder.Path("link"));
  const auto file = *OutputFile::Create(folder.Path("link"));
  ASSERT_TRUE(file->Write(AsBytes("new")).ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.Path("link")));
  EXPECT_EQ(ReadFile(folder.Path("y")), "new");
}

TEST(OutputFile, SaysWhyItCannotBeCreated) {
  const TemporaryFolder folder;
  EXPECT_FALSE(OutputFile::Create(folder.Path("none/y")).ok());
  EXPECT_FALSE(OutputFile::Create(folder.Path("")).ok());
}

TEST(OutputFile, WritesToDevicesAndSaysWhenTheyAreFull) {
  EXPECT_TRUE((*OutputFile::Create("/dev/null"))->Write(AsBytes("x")).ok());
  const absl::Status full = (*OutputFile::Create("/dev/full"))->Write(AsBytes("x"));
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace trelu::command
