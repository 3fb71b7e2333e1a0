// The client's own shared memory objects, and whom they are made for.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "client/shared_memory/memory_object.h"
#include "client/shared_memory/this_host.h"
#include "tests/support/private_mounts.h"

namespace trelu::testing {
namespace {

struct TargetCase {
  const char* target;
  bool this_host;
};

// The system ends a process that makes a file beyond the limit.
TEST(MemoryObjectTest, BeyondTheLimitOfFilesIsAnError) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto object = MemoryObject::Create("/", 4097);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(object.ok());
  EXPECT_TRUE(MemoryObject::Create("/", 4097).ok());
}

TEST(ThisHostTest, IsToldByTheTargetsWords) {
  for (const auto& [target, this_host] : std::vector<TargetCase>{
           {"localhost:8001", true},
           {"LocalHost", true},
           {"dns:///localhost:8001", false},
           {"dns:localhost:8001", false},
           {"dns:///127.0.0.1:8001", true},
           {"127.0.0.1:8001", true},
           {"127.9.8.7", true},
           {"ipv4:127.0.0.1:8001", true},
           {"[::1]:8001", true},
           {"ipv6:[::1]:8001", true},
           {"unix:/run/trelu.sock", true},
           {"unix:trelu.sock", true},
           {"unix-abstract:trelu", true},
           {"", false},
           {"128.0.0.1:8001", false},
           {"127.0.0.1.example:8001", false},
           {"localhost.example:8001", false},
           {"[::1", false},
           {"[::12]:8001", false},
           {"dns://127.0.0.1/example:8001", false},
           {"ipv4:127.0.0.1:8001,127.0.0.2:8001", false},
           {"trelu.example:8001", false},
       }) {
    EXPECT_EQ(IsThisHost(target), this_host) << target;
  }
}

TEST(MemoryObjectTest, IsTheUsersOwnAndHasANameUntilUnlinked) {
  const auto object = MemoryObject::Create("/trelu_test_", 10'000).value();
  EXPECT_EQ(object->bytes().size(), 10'000U);
  EXPECT_TRUE(object->key().starts_with("/trelu_test_"));
  EXPECT_EQ(object->key().size(), std::string("/trelu_test_").size() + 32);
  struct stat status {};
  ASSERT_EQ(stat(("/dev/shm" + object->key()).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_GE(status.st_blocks * 512, 10'000);
  object->Unlink();
  EXPECT_NE(stat(("/dev/shm" + object->key()).c_str(), &status), 0);
  object->bytes().back() = std::byte{1};
}

// A process that is killed before leaves nothing.
TEST(MemoryObjectTest, HasANameOnceItIsWhole) {
  const std::string prefix = "trelu_test_whole_" + std::to_string(getpid()) + "_";
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  std::atomic<bool> done = false;
  std::atomic<int> seen = 0;
  int incomplete = 0;
  std::thread watcher([&] {
    while (!done) {
      std::error_code gone;
      for (std::filesystem::directory_iterator entry("/dev/shm", gone), end; entry != end;
           entry.increment(gone)) {
        struct stat status {};
        if (!entry->path().filename().string().starts_with(prefix) ||
            stat(entry->path().c_str(), &status) != 0) {
          continue;
        }
        ++seen;
        if (static_cast<std::size_t>(status.st_blocks) * 512 < kBytes) ++incomplete;
      }
    }
  });
  for (int i = 0; i < 20 || (seen == 0 && i < 10000); ++i)
    EXPECT_TRUE(MemoryObject::Create(prefix, kBytes).ok());
  done = true;
  watcher.join();
  EXPECT_GT(seen, 0);
  EXPECT_EQ(incomplete, 0);
}

TEST(MemoryObjectTest, ADestroyedOneHasNoNameEither) {
  auto object = MemoryObject::Create("trelu_test_", 1).value();
  const std::string path = "/dev/shm" + object->key();
  object.reset();
  struct stat status {};
  EXPECT_NE(stat(path.c_str(), &status), 0);
}

// In a process of its own, whose /dev/shm is a small one.
[[noreturn]] void FillSmallFileSystem() {
  if (!MountPrivately("tmpfs", "/dev/shm", "size=1m")) std::exit(77);
  const auto object = MemoryObject::Create("/", std::size_t{2} << 20);
  const bool small = MemoryObject::Create("/", std::size_t{512} << 10).ok();
  std::fputs(object.status().ToString().c_str(), stderr);
  std::exit(absl::IsResourceExhausted(object.status()) && small ? 0 : 1);
}

TEST(MemoryObjectDeathTest, AFullFileSystemIsAnErrorNotASignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      FillSmallFileSystem(),
      [](int status) {
        return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
      },
      "");
}

}  // namespace
}  // namespace trelu::testing
