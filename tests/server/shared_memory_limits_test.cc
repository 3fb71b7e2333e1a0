// How much may be registered, and what ends that nobody unregisters.
#include "server/shared_memory/shared_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using ::testing::HasSubstr;
using trelu::testing::SharedObject;

constexpr std::size_t kPageBytes = 4096;

Executor& Here() {
  static InlineExecutor here;
  return here;
}

TEST(SharedMemoryLimits, RegionsAreLimited) {
  const SharedObject object(kPageBytes);
  SharedMemory two("/", {.max_regions = 2, .max_bytes = 100}, Here());
  ASSERT_TRUE(two.Register("a", object.key(), 0, 1).ok());
  ASSERT_TRUE(two.Register("b", object.key(), 0, 1).ok());
  const absl::Status third = two.Register("c", object.key(), 0, 1);
  EXPECT_EQ(third.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(third.message(), "shared memory: at most 2 regions are registered");
  EXPECT_EQ(two.Register("a", object.key(), 0, 1).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(two.Unregister("a").ok());
  EXPECT_TRUE(two.Register("c", object.key(), 0, 1).ok());
}

TEST(SharedMemoryLimits, BytesAreLimitedToThoseRegistered) {
  const SharedObject object(kPageBytes);
  SharedMemory hundred("/", {.max_bytes = 100}, Here());
  ASSERT_TRUE(hundred.Register("a", object.key(), 0, 60).ok());
  const absl::Status more = hundred.Register("b", object.key(), 0, 41);
  EXPECT_EQ(more.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(more.message()), HasSubstr("at most 100"));
  EXPECT_TRUE(hundred.Register("b", object.key(), 0, 40).ok());
  EXPECT_EQ(hundred.Register("c", object.key(), 0, 1).code(), absl::StatusCode::kResourceExhausted);
  // In use, but no longer registered.
  const SharedRange user = hundred.Find("a", 0, 60).value();
  ASSERT_TRUE(hundred.Unregister("a").ok());
  EXPECT_TRUE(hundred.Register("c", object.key(), 0, 60).ok());
  EXPECT_EQ(hundred.Register("d", object.key(), 0, 1).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(hundred.Unregister("").ok());
  EXPECT_TRUE(hundred.Register("e", object.key(), 0, 100).ok());
}

// As Region::abandoned has it; that test says when.
TEST(SharedMemoryLimits, WhatClientsLeftBehindIsUnregistered) {
  SharedMemory memory("/", {.max_bytes = 3 * kPageBytes}, Here());
  const SharedObject kept(kPageBytes);
  {
    const SharedObject left(kPageBytes);
    ASSERT_TRUE(memory.Register("left", left.key(), 0, kPageBytes).ok());
    ASSERT_TRUE(memory.Register("kept", kept.key(), 0, kPageBytes).ok());
    const SharedObject used(kPageBytes);
    ASSERT_TRUE(memory.Register("used", used.key(), 0, kPageBytes).ok());
    EXPECT_EQ(memory.UnregisterAbandoned(), 0U);
    EXPECT_EQ(memory.totals().regions, 3U);
    EXPECT_EQ(memory.totals().bytes, 3 * kPageBytes);
  }
  const SharedRange user = memory.Find("used", 0, kPageBytes).value();
  EXPECT_EQ(memory.UnregisterAbandoned(), 2U);
  EXPECT_EQ(memory.Status("").value().at(0).name, "kept");
  EXPECT_EQ(memory.totals().regions, 1U);
  EXPECT_EQ(memory.totals().bytes, kPageBytes);
  user.bytes()[0] = std::byte{1};
  EXPECT_FALSE(user.lost());
  EXPECT_TRUE(memory.Register("left", kept.key(), 0, kPageBytes).ok());
}

// The last user is a queue's thread, which others wait for.
TEST(SharedMemoryLimits, UnmappingIsAChore) {
  class Later final : public Executor {
   public:
    void Schedule(std::function<void()> work) override { kept.push_back(std::move(work)); }
    int width() const override { return 1; }
    std::vector<std::function<void()>> kept;
  };
  Later later;
  const SharedObject object(kPageBytes);
  SharedMemory memory("/", {.max_bytes = kPageBytes}, later);
  ASSERT_TRUE(memory.Register("a", object.key(), 0, kPageBytes).ok());
  std::optional<SharedRange> user = memory.Find("a", 0, kPageBytes).value();
  ASSERT_TRUE(memory.Unregister("a").ok());
  EXPECT_EQ(later.kept.size(), 0U);
  user.reset();
  EXPECT_TRUE(object.IsMapped());
  ASSERT_EQ(later.kept.size(), 1U);
  later.kept.front()();
  EXPECT_FALSE(object.IsMapped());
}

}  // namespace
}  // namespace trelu::server
