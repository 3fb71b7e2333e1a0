// Objects that the server may not use, and that nobody finds out about.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include "server/shared_memory/region.h"
#include "tests/support/private_mounts.h"
#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using trelu::testing::MountPrivately;
using trelu::testing::SharedObject;

constexpr std::size_t kPageBytes = 4096;
constexpr uid_t kSomebody = 54321;

absl::Status OpenStatus(const std::string& key, std::uint64_t bytes = 1) {
  return Region::Open(key, 0, bytes).status();
}

// What every object looks like that the server may not use.
absl::Status NoSuchObject() { return OpenStatus(SharedObject::NextKey()); }

// Something in an object's place that is refused.
struct Refused {
  const char* name;
  std::function<void(const SharedObject&)> change;
  bool needs_root = false;
};

void OwnedBySomebody(const SharedObject& object, mode_t mode) {
  ASSERT_EQ(fchown(object.fd(), kSomebody, kSomebody), 0);
  object.SetMode(mode);
}

std::string PathOf(const SharedObject& object) { return "/dev/shm" + object.key(); }

class RegionRefusal : public ::testing::TestWithParam<Refused> {};

TEST_P(RegionRefusal, SoundsLikeAnObjectThatIsNotThere) {
  if (GetParam().needs_root && geteuid() != 0) GTEST_SKIP() << "only root gives objects away";
  std::signal(SIGIO, SIG_IGN);  // a lease's end
  const SharedObject object(kPageBytes);
  GetParam().change(object);
  // Not even the size is told.
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
    EXPECT_EQ(OpenStatus(object.key(), bytes), NoSuchObject());
  }
  EXPECT_EQ(NoSuchObject().code(), absl::StatusCode::kNotFound);
  std::filesystem::remove(PathOf(object));
}

INSTANTIATE_TEST_SUITE_P(
    Objects, RegionRefusal,
    ::testing::Values(
        Refused{"SomebodysOwn", [](const auto& o) { OwnedBySomebody(o, 0600); }, true},
        Refused{"SomebodysReadable", [](const auto& o) { OwnedBySomebody(o, 0604); }, true},
        Refused{"SomebodysWritable", [](const auto& o) { OwnedBySomebody(o, 0602); }, true},
        Refused{"SomebodysGroups", [](const auto& o) { OwnedBySomebody(o, 0660); }, true},
        Refused{"Leased", [](const auto& o) { ASSERT_EQ(fcntl(o.fd(), F_SETLEASE, F_WRLCK), 0); }},
        Refused{"Link",
                [](const auto& o) {
                  // To what the server may use.
                  static const SharedObject target(kPageBytes);
                  o.Unlink();
                  std::filesystem::create_symlink(PathOf(target), PathOf(o));
                }},
        Refused{"Directory",
                [](const auto& o) {
                  o.Unlink();
                  ASSERT_EQ(mkdir(PathOf(o).c_str(), 0777), 0);
                }},
        Refused{"Pipe",
                [](const auto& o) {
                  o.Unlink();
                  ASSERT_EQ(mkfifo(PathOf(o).c_str(), 0666), 0);
                }}),
    [](const auto& test) { return test.param.name; });

TEST(Region, WhatSomebodyGaveToAllIsTaken) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives objects away";
  for (const mode_t mode : {0606U, 0666U, 0006U}) {
    const SharedObject object(kPageBytes);
    OwnedBySomebody(object, mode);
    EXPECT_TRUE(OpenStatus(object.key()).ok()) << mode;
  }
}

// As root the server could open everything; here it is somebody else.
TEST(RegionDeath, AServerOfLittlePrivilegeIsToldNoMore) {
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes somebody else";
  const SharedObject roots(kPageBytes);
  const SharedObject given(kPageBytes);
  given.SetMode(0666);
  const SharedObject own(kPageBytes);
  ASSERT_EQ(fchown(own.fd(), kSomebody, kSomebody), 0);
  EXPECT_EXIT(
      {
        if (setuid(kSomebody) != 0) _exit(1);
        _exit(OpenStatus(roots.key()) != NoSuchObject() ? 2
              : !OpenStatus(given.key()).ok()           ? 3
              : !OpenStatus(own.key()).ok()             ? 4
                                                        : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(RegionDeath, OnlyATmpfsIsTaken) {
  EXPECT_EXIT(
      {
        if (!MountPrivately("ramfs", "/dev/shm", nullptr)) _exit(0);
        const SharedObject object(kPageBytes);
        _exit(OpenStatus(object.key()) == NoSuchObject() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trelu::server
