// Names, ranges, lifetimes and losses of mapped objects.
#include "server/shared_memory/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trelu::testing::SharedObject;

constexpr std::size_t kPageBytes = 4096;

absl::Status OpenStatus(std::string_view key, std::uint64_t offset = 0, std::uint64_t bytes = 1) {
  return Region::Open(key, offset, bytes).status();
}

std::ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

struct Key {
  const char* name;
  std::string key;
  std::string object;  // empty: refused
};

class ObjectNameOf : public ::testing::TestWithParam<Key> {};

TEST_P(ObjectNameOf, IsTakenOrRefused) {
  const auto object = ObjectName(GetParam().key);
  if (!GetParam().object.empty()) {
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ(*object, GetParam().object);
    return;
  }
  EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(object.status().message()), ::testing::StartsWith("key: "));
  EXPECT_EQ(OpenStatus(GetParam().key), object.status());
}

INSTANTIATE_TEST_SUITE_P(
    Keys, ObjectNameOf,
    ::testing::Values(Key{"Plain", "x", "x"}, Key{"OneSlash", "/x", "x"},
                      Key{"DotsInside", "/a..b.", "a..b."}, Key{"Blanks", "a b", "a b"},
                      Key{"LongestName", "/" + std::string(255, 'k'), std::string(255, 'k')},
                      Key{"TooLong", "/" + std::string(256, 'k'), ""}, Key{"Empty", "", ""},
                      Key{"SlashAlone", "/", ""}, Key{"TwoSlashes", "//", ""},
                      Key{"TwoSlashesAndName", "//x", ""}, Key{"Folder", "a/b", ""},
                      Key{"TrailingSlash", "a/", ""}, Key{"Path", "/dev/shm/x", ""},
                      Key{"Dot", "/.", ""}, Key{"DotDot", "..", ""}, Key{"Upwards", "/../x", ""},
                      Key{"NulInside", std::string("a\0b", 3), ""},
                      Key{"NulAtEnd", std::string("a\0", 2), ""}),
    [](const auto& test) { return test.param.name; });

TEST(ObjectName, OfAKeyWithANulIsRefusedForThat) {
  const auto object = ObjectName(std::string_view("a\0b", 3));
  EXPECT_THAT(std::string(object.status().message()), HasSubstr("without NUL"));
}

struct Range {
  const char* name;
  std::uint64_t offset;
  std::uint64_t bytes;
  bool fits;
};

class RegionRange : public ::testing::TestWithParam<Range> {};

// An object of two pages and a half.
TEST_P(RegionRange, IsMappedOrRefused) {
  const SharedObject object(10240);
  std::vector<unsigned char> content(10240);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<unsigned char>(i % 251);
  object.Write(0, content.data(), content.size());
  const auto [name, offset, bytes, fits] = GetParam();
  const auto region = Region::Open(object.key(), offset, bytes);
  ASSERT_EQ(region.ok(), fits) << region.status();
  if (!fits) {
    EXPECT_EQ(region.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(region.status().message()), HasSubstr("byte_size: got "));
    EXPECT_THAT(std::string(region.status().message()), Not(HasSubstr(object.key().substr(1))));
    return;
  }
  ASSERT_EQ((*region)->bytes().size(), bytes);
  EXPECT_EQ((*region)->offset(), offset);
  EXPECT_EQ(std::memcmp((*region)->bytes().data(), &content[offset], bytes), 0);
  std::ranges::fill((*region)->bytes(), std::byte{255});
  std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(offset), bytes,
              static_cast<unsigned char>(255));
  EXPECT_EQ(object.Read<unsigned char>(0, content.size()), content);
  EXPECT_FALSE((*region)->lost());
}

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

INSTANTIATE_TEST_SUITE_P(
    Ranges, RegionRange,
    ::testing::Values(Range{"Whole", 0, 10240, true}, Range{"OneByte", 0, 1, true},
                      Range{"LastByte", 10239, 1, true}, Range{"SecondPage", 4096, 4096, true},
                      Range{"Unaligned", 1, 10239, true}, Range{"AcrossPages", 4095, 2, true},
                      Range{"UnalignedInLastPage", 8193, 2047, true}, Range{"Nothing", 0, 0, false},
                      Range{"OneTooMany", 0, 10241, false},
                      Range{"RestOfLastPage", 0, 12288, false}, Range{"OneTooFar", 10240, 1, false},
                      Range{"Beyond", 10241, 1, false}, Range{"SumWraps", 4096, kMax - 4095, false},
                      Range{"SumWrapsToFit", kMax, 2, false}, Range{"Largest", kMax, kMax, false},
                      Range{"HalfOfAll", 0, kMax / 2 + 1, false}),
    [](const auto& test) { return test.param.name; });

TEST(Region, TenThousandFailuresLeaveNoDescriptor) {
  const SharedObject object(kPageBytes);
  const std::string missing = SharedObject::NextKey();
  const auto before = OpenDescriptors();
  for (int i = 0; i < 10000; ++i) {
    ASSERT_FALSE(OpenStatus(object.key(), 0, kPageBytes + 1).ok());
    ASSERT_FALSE(OpenStatus(object.key(), 0, 0).ok());
    ASSERT_FALSE(OpenStatus(missing).ok());
  }
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_FALSE(object.IsMapped());
  auto region = Region::Open(object.key(), 0, kPageBytes).value();
  EXPECT_EQ(OpenDescriptors(), before + 1);
  EXPECT_TRUE(object.IsMapped());
  region.reset();
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_FALSE(object.IsMapped());
}

TEST(Region, LivesOnWithoutTheName) {
  const SharedObject object(kPageBytes);
  auto region = Region::Open(object.key(), 0, kPageBytes);
  ASSERT_TRUE(region.ok());
  object.Unlink();
  (*region)->bytes()[5] = std::byte{9};
  EXPECT_EQ(object.Read<unsigned char>(5, 1)[0], 9);
  EXPECT_TRUE(object.IsMapped());
  region->reset();
  EXPECT_FALSE(object.IsMapped());
}

TEST(Region, IsLostWhenTheObjectShrinks) {
  const SharedObject object(3 * kPageBytes);
  const auto region = Region::Open(object.key(), 10, 2 * kPageBytes);
  ASSERT_TRUE(region.ok());
  object.Resize(kPageBytes);
  (*region)->bytes().front() = std::byte{1};
  EXPECT_FALSE((*region)->lost());
  (*region)->bytes().back() = std::byte{1};
  EXPECT_TRUE((*region)->lost());
}

TEST(Region, KnowsItsObject) {
  const SharedObject one(kPageBytes);
  const SharedObject two(kPageBytes);
  const auto a = Region::Open(one.key(), 0, 8);
  const auto b = Region::Open(one.key(), 8, 8);
  const auto c = Region::Open(two.key(), 0, 8);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_TRUE((*a)->SharesObjectWith(**b));
  EXPECT_FALSE((*a)->SharesObjectWith(**c));
}

TEST(Region, IsAbandonedOnceNobodyElseCanSeeTheObject) {
  std::optional<SharedObject> object(kPageBytes);
  const int also_open = dup(object->fd());
  void* const also_mapped = mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, object->fd(), 0);
  ASSERT_NE(also_mapped, MAP_FAILED);
  const auto region = Region::Open(object->key(), 0, kPageBytes).value();
  EXPECT_FALSE(region->abandoned()) << "everybody has it";
  object->Unlink();
  EXPECT_FALSE(region->abandoned()) << "without a name, but open";
  object.reset();
  EXPECT_FALSE(region->abandoned()) << "open under another number";
  close(also_open);
  EXPECT_FALSE(region->abandoned()) << "mapped";
  munmap(also_mapped, kPageBytes);
  EXPECT_TRUE(region->abandoned());
  EXPECT_TRUE(region->abandoned()) << "asking changes nothing";
}

TEST(Region, IsAbandonedWithOthersOfItsObject) {
  std::optional<SharedObject> object(2 * kPageBytes);
  const auto one = Region::Open(object->key(), 0, kPageBytes).value();
  const auto other = Region::Open(object->key(), kPageBytes, kPageBytes).value();
  EXPECT_FALSE(one->abandoned());
  object.reset();
  EXPECT_TRUE(one->abandoned());
  EXPECT_TRUE(other->abandoned());
}

TEST(Region, IsNotAbandonedWhileItHasAName) {
  const std::string key = SharedObject::NextKey();
  const int object = shm_open(key.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_GE(object, 0);
  ASSERT_EQ(ftruncate(object, kPageBytes), 0);
  close(object);
  const auto region = Region::Open(key, 0, kPageBytes).value();
  EXPECT_FALSE(region->abandoned());
  shm_unlink(key.c_str());
  EXPECT_TRUE(region->abandoned());
}

TEST(Region, WithoutDescriptorsItIsUnavailable) {
  const SharedObject object(kPageBytes);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = OpenStatus(object.key());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

TEST(Region, WhatTheAddressSpaceCannotHoldIsExhausted) {
  const SharedObject object(std::size_t{1} << 60);
  const absl::Status status = OpenStatus(object.key(), 0, std::uint64_t{1} << 60);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

TEST(Region, MoreThanCanBeGuardedAreExhausted) {
  const SharedObject object(kPageBytes);
  std::vector<std::shared_ptr<const Region>> regions;
  absl::StatusOr<std::shared_ptr<const Region>> region;
  while ((region = Region::Open(object.key(), 0, 1)).ok()) regions.push_back(*std::move(region));
  EXPECT_EQ(regions.size(), BusErrorGuard::kMaxGuards);
  EXPECT_EQ(region.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(region.status().message()), HasSubstr("4096"));
}

}  // namespace
}  // namespace trelu::server
