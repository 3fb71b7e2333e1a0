#include "server/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <string>

namespace trelu::server {
namespace {

using Files = std::map<std::string, std::string>;

// A file system of our own, removed at the end.
class Root {
 public:
  explicit Root(const Files& files) {
    std::string name = testing::TempDir() + "machine_test_XXXXXX";
    path_ = mkdtemp(name.data());
    for (const auto& [file, content] : files) {
      const std::filesystem::path path = path_ + file;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << content;
    }
  }
  ~Root() { std::filesystem::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Layout {
  const char* name;
  Files files;
  std::optional<double> cpus;
  std::optional<std::uint64_t> memory_bytes;
};
void PrintTo(const Layout& row, std::ostream* out) { *out << row.name; }

constexpr char kSelf[] = "/proc/self/cgroup";

class CgroupTest : public testing::TestWithParam<Layout> {};

TEST_P(CgroupTest, GivesTheTightestLimits) {
  const Root root(GetParam().files);
  EXPECT_EQ(CgroupCpuQuota(root.path()), GetParam().cpus);
  EXPECT_EQ(CgroupMemoryLimit(root.path()), GetParam().memory_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, CgroupTest,
    testing::Values(Layout{"Nothing", {}, std::nullopt, std::nullopt},
                    Layout{"V2InItsOwnNamespace",
                           {{kSelf, "0::/\n"},
                            {"/sys/fs/cgroup/cpu.max", "50000 100000\n"},
                            {"/sys/fs/cgroup/memory.max", "268435456\n"}},
                           0.5,
                           268435456},
                    Layout{"V2Unlimited",
                           {{kSelf, "0::/\n"},
                            {"/sys/fs/cgroup/cpu.max", "max 100000\n"},
                            {"/sys/fs/cgroup/memory.max", "max\n"}},
                           std::nullopt,
                           std::nullopt},
                    Layout{"V2NestedInnerTighter",
                           {{kSelf, "0::/pods/trelu\n"},
                            {"/sys/fs/cgroup/pods/cpu.max", "400000 100000\n"},
                            {"/sys/fs/cgroup/pods/memory.max", "4000\n"},
                            {"/sys/fs/cgroup/pods/trelu/cpu.max", "150000 100000\n"},
                            {"/sys/fs/cgroup/pods/trelu/memory.max", "1000\n"}},
                           1.5,
                           1000},
                    Layout{"V2NestedOuterTighter",
                           {{kSelf, "0::/pods/trelu\n"},
                            {"/sys/fs/cgroup/pods/cpu.max", "20000 10000\n"},
                            {"/sys/fs/cgroup/pods/memory.max", "4000\n"},
                            {"/sys/fs/cgroup/pods/trelu/cpu.max", "max 100000\n"},
                            {"/sys/fs/cgroup/pods/trelu/memory.max", "max\n"}},
                           2,
                           4000},
                    Layout{"V2PathFromOutside",
                           {{kSelf, "0::/../../elsewhere\n"},
                            {"/sys/fs/cgroup/cpu.max", "300000 100000\n"},
                            {"/sys/fs/cgroup/memory.max", "77\n"}},
                           3,
                           77},
                    Layout{"V1",
                           {{kSelf, "5:memory:/\n3:cpu,cpuacct:/\n1:name=systemd:/\n"},
                            {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n"},
                            {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                            {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"}},
                           2.5,
                           536870912},
                    Layout{
                        "V1Unlimited",
                        {{kSelf, "5:memory:/\n3:cpu,cpuacct:/\n"},
                         {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                         {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                         {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
                        std::nullopt,
                        std::nullopt},
                    Layout{"V1Nested",
                           {{kSelf, "5:memory:/docker/abc\n3:cpuacct,cpu:/docker/abc\n"},
                            {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "100000\n"},
                            {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n"},
                            {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                            {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                            {"/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "5000\n"},
                            {"/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "4000\n"}},
                           1,
                           4000},
                    Layout{"V1SeenFromInside",
                           {{kSelf, "5:memory:/docker/abc\n3:cpu:/docker/abc\n0::/docker/abc\n"},
                            {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"},
                            {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                            {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "6000\n"}},
                           0.5,
                           6000},
                    Layout{"Garbage",
                           {{kSelf, "nonsense\n::\n0::\n"},
                            {"/sys/fs/cgroup/cpu.max", "-5 0\n"},
                            {"/sys/fs/cgroup/memory.max", "many\n"}},
                           std::nullopt,
                           std::nullopt}),
    [](const auto& row) { return row.param.name; });

int AffinityCpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

TEST(AvailableCpusTest, IsTheAffinityMaskWithoutAQuota) {
  const Root root(Files{});
  EXPECT_EQ(AvailableCpus(root.path()), AffinityCpus());
}

TEST(AvailableCpusTest, RoundsAQuotaUp) {
  const Root half(Files{{"/sys/fs/cgroup/cpu.max", "50000 100000\n"}});
  EXPECT_EQ(AvailableCpus(half.path()), 1);
  const Root one_and_a_half(Files{{"/sys/fs/cgroup/cpu.max", "150000 100000\n"}});
  EXPECT_EQ(AvailableCpus(one_and_a_half.path()), std::min(2, AffinityCpus()));
}

TEST(AvailableCpusTest, NeverExceedsTheAffinityMask) {
  const Root root(Files{{"/sys/fs/cgroup/cpu.max", "9900000000 100000\n"}});
  EXPECT_EQ(AvailableCpus(root.path()), AffinityCpus());
}

TEST(AvailableMemoryBytesTest, IsTheMachinesOrTheCgroups) {
  const Root none(Files{});
  const std::uint64_t machine = AvailableMemoryBytes(none.path());
  EXPECT_GT(machine, std::uint64_t{64} << 20);
  const Root small(Files{{"/sys/fs/cgroup/memory.max", "1048576\n"}});
  EXPECT_EQ(AvailableMemoryBytes(small.path()), 1048576U);
  const Root large(Files{{"/sys/fs/cgroup/memory.max", "4611686018427387903\n"}});
  EXPECT_EQ(AvailableMemoryBytes(large.path()), machine);
}

TEST(RaiseFileLimitTest, BringsTheSoftLimitToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(256, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(RaiseFileLimit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace trelu::server
