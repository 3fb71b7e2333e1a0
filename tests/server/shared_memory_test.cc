// Names, limits and lifetimes of registered regions.
#include "server/shared_memory/shared_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using trelu::testing::SharedObject;
using Overlap = SharedRange::Overlap;

constexpr std::size_t kPageBytes = 4096;

std::vector<std::string> NamesIn(const SharedMemory& memory) {
  std::vector<std::string> names;
  const auto regions = memory.Status("");
  for (const RegionStatus& region : *regions) names.push_back(region.name);
  return names;
}

class SharedMemoryTest : public ::testing::Test {
 protected:
  InlineExecutor here_;
  SharedMemory memory_{"/", {.max_bytes = std::uint64_t{1} << 40}, here_};
  SharedObject object_{4 * kPageBytes};
};

TEST_F(SharedMemoryTest, ARegionIsFoundByItsName) {
  ASSERT_TRUE(memory_.Register("in", object_.key(), 8, 100).ok());
  const std::vector<unsigned char> content = {1, 2, 3};
  object_.Write(10, content.data(), content.size());
  const auto range = memory_.Find("in", 2, 3);
  ASSERT_TRUE(range.ok()) << range.status();
  EXPECT_THAT(range->bytes(), ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  EXPECT_FALSE(range->lost());
}

TEST_F(SharedMemoryTest, UnknownNamesAreNotFound) {
  const std::string name = "no\n" + std::string(500, 'e');
  for (const absl::Status& status :
       {memory_.Find(name, 0, 1).status(), memory_.Find("", 0, 1).status(),
        memory_.Status(name).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_LT(status.message().size(), 100U);
  }
  EXPECT_THAT(std::string(memory_.Find(name, 0, 1).status().message()),
              StartsWith("region 'no\\x0aeee"));
}

TEST_F(SharedMemoryTest, ATakenNameStaysWhatItIs) {
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 8).ok());
  for (const std::string& key : {object_.key(), SharedObject::NextKey()}) {
    EXPECT_EQ(memory_.Register("a", key, 8, 16).code(), absl::StatusCode::kAlreadyExists);
  }
  const auto status = memory_.Status("a");
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(status->size(), 1U);
  EXPECT_EQ(status->front().name, "a");
  EXPECT_EQ(status->front().key, object_.key());
  EXPECT_EQ(status->front().offset, 0U);
  EXPECT_EQ(status->front().byte_size, 8U);
}

TEST_F(SharedMemoryTest, StatusListsAllOrOne) {
  EXPECT_THAT(NamesIn(memory_), IsEmpty());
  ASSERT_TRUE(memory_.Register("b", object_.key().substr(1), 5, 6).ok());
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 1).ok());
  EXPECT_THAT(NamesIn(memory_), ElementsAre("a", "b"));
  const RegionStatus b = memory_.Status("b").value().at(0);
  EXPECT_EQ(b.key, object_.key().substr(1));
  EXPECT_EQ(b.offset, 5U);
  EXPECT_EQ(b.byte_size, 6U);
}

TEST_F(SharedMemoryTest, NamesHaveALength) {
  EXPECT_EQ(memory_.Register("", object_.key(), 0, 1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(memory_.Register(std::string(256, 'n'), object_.key(), 0, 1).ok());
  EXPECT_EQ(memory_.Register(std::string(257, 'n'), object_.key(), 0, 1).message(),
            "name: got 257 bytes, expected at most 256");
}

TEST_F(SharedMemoryTest, UnregisteringWhatIsNotThereIsFine) {
  EXPECT_TRUE(memory_.Unregister("a").ok());
  EXPECT_TRUE(memory_.Unregister("").ok());
}

TEST_F(SharedMemoryTest, UnregisteringOneLeavesTheOthers) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(memory_.Register(name, object_.key(), 0, 1).ok());
  }
  EXPECT_TRUE(memory_.Unregister("b").ok());
  EXPECT_THAT(NamesIn(memory_), ElementsAre("a", "c"));
  EXPECT_TRUE(memory_.Unregister("").ok());
  EXPECT_THAT(NamesIn(memory_), IsEmpty());
  EXPECT_FALSE(object_.IsMapped());
}

// One region, or all of them.
class SharedMemoryInUse : public SharedMemoryTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(SharedMemoryInUse, TheNameIsFreeAtOnceAndTheMemoryGoesWithItsLastUser) {
  const SharedObject other(kPageBytes);
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 8).ok());
  std::vector<SharedRange> users(2, memory_.Find("a", 0, 8).value());
  ASSERT_TRUE(memory_.Unregister(GetParam()).ok());
  EXPECT_EQ(memory_.Find("a", 0, 8).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(memory_.Register("a", other.key(), 0, 8).ok());
  users[0].bytes()[0] = std::byte{4};
  EXPECT_EQ(object_.Read<unsigned char>(0, 1)[0], 4);
  users.pop_back();
  EXPECT_TRUE(object_.IsMapped());
  users.pop_back();
  EXPECT_FALSE(object_.IsMapped());
}

INSTANTIATE_TEST_SUITE_P(Unregister, SharedMemoryInUse, ::testing::Values("a", ""),
                         [](const auto& test) { return *test.param != '\0' ? "One" : "All"; });

TEST_F(SharedMemoryTest, ALostRegionStaysLostUntilUnregistered) {
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 4 * kPageBytes).ok());
  const auto range = memory_.Find("a", 0, 4 * kPageBytes);
  ASSERT_TRUE(range.ok());
  object_.Resize(kPageBytes);
  const ThresholdedRelu op(DType::kFloat32, 1.0F);
  op.Apply(range->bytes(), range->bytes().data());
  EXPECT_TRUE(range->lost());
  object_.Resize(4 * kPageBytes);
  EXPECT_EQ(memory_.Find("a", 0, 8).status(), RegionLost("a"));
  EXPECT_EQ(RegionLost("a").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(memory_.Register("a", object_.key(), 0, 8).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(memory_.Unregister("a").ok());
  ASSERT_TRUE(memory_.Register("a", object_.key(), 0, 8).ok());
  EXPECT_TRUE(memory_.Find("a", 0, 8).ok());
}

struct Prefix {
  const char* name;
  const char* prefix;
  const char* key;
  bool allowed;
};

class SharedMemoryPrefix : public ::testing::TestWithParam<Prefix> {};

// None of the keys exists: what is allowed is not found.
TEST_P(SharedMemoryPrefix, DecidesByTheNameAlone) {
  InlineExecutor here;
  SharedMemory memory(GetParam().prefix, {.max_bytes = std::uint64_t{1} << 40}, here);
  const absl::Status status = memory.Register("r", GetParam().key, 0, 1);
  EXPECT_EQ(status.code(),
            GetParam().allowed ? absl::StatusCode::kNotFound : absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("region 'r': key: "));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("trelu_prefix")));
  EXPECT_THAT(NamesIn(memory), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Prefixes, SharedMemoryPrefix,
    ::testing::Values(Prefix{"Plain", "trelu_prefix_", "trelu_prefix_a", true},
                      Prefix{"SlashedKey", "trelu_prefix_", "/trelu_prefix_a", true},
                      Prefix{"SlashedPrefix", "/trelu_prefix_", "trelu_prefix_a", true},
                      Prefix{"BothSlashed", "/trelu_prefix_", "/trelu_prefix_a", true},
                      Prefix{"PrefixItself", "trelu_prefix_", "trelu_prefix_", true},
                      Prefix{"TooManySlashes", "trelu_prefix_", "//trelu_prefix_a", false},
                      Prefix{"Another", "trelu_prefix_", "trelu_prefiy_a", false},
                      Prefix{"Shorter", "trelu_prefix_", "trelu_prefix", false},
                      Prefix{"Inside", "trelu_prefix_", "x_trelu_prefix_a", false},
                      Prefix{"OtherCase", "trelu_prefix_", "Trelu_prefix_a", false},
                      Prefix{"Everything", "/", "trelu_prefix_a", true},
                      Prefix{"EverythingButPaths", "/", "a/trelu_prefix_a", false}),
    [](const auto& test) { return test.param.name; });

TEST_F(SharedMemoryTest, AKeyThatIsNotAllowedIsNotLookedAt) {
  SharedMemory memory("some_prefix", {.max_bytes = std::uint64_t{1} << 40}, here_);
  EXPECT_EQ(memory.Register("r", object_.key(), 0, 1),
            memory.Register("r", SharedObject::NextKey(), 0, 1));
}

TEST_F(SharedMemoryTest, SwitchedOffItNamesTheFlag) {
  SharedMemory off("", {}, here_);
  EXPECT_FALSE(off.enabled());
  EXPECT_TRUE(memory_.enabled());
  for (const absl::Status& status : {off.Register("a", object_.key(), 0, 1), off.Unregister("a"),
                                     off.Find("a", 0, 1).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()), HasSubstr("--shared-memory-prefix"));
  }
  EXPECT_THAT(off.Status("").value(), IsEmpty());
  EXPECT_EQ(off.Status("a").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SharedMemoryTest, RegisteringUnregisteringAndComputingMayMeet) {
  constexpr int kRounds = 1000;
  const SharedObject shrinking(4 * kPageBytes);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (const char* name : {"a", "b", "a", "b"}) {
      threads.emplace_back([&, name] {
        for (int round = 0; round < kRounds; ++round) {
          const SharedObject& object = round % 2 == 0 ? object_ : shrinking;
          const absl::Status status = memory_.Register(name, object.key(), 0, kPageBytes);
          if (!status.ok() && status.code() != absl::StatusCode::kAlreadyExists &&
              status.code() != absl::StatusCode::kInvalidArgument) {
            ++wrong;
          }
          if (!memory_.Unregister(round % 16 == 0 ? "" : name).ok()) ++wrong;
          if (!memory_.Status("").ok()) ++wrong;
          if (name[0] == 'b') shrinking.Resize(round % 3 == 0 ? 0 : 4 * kPageBytes);
        }
      });
    }
    for (int user = 0; user < 3; ++user) {
      threads.emplace_back([&, user] {
        const ThresholdedRelu op(DType::kFloat32, 1.0F);
        for (int round = 0; round < kRounds; ++round) {
          const std::uint64_t part = kPageBytes / 4;
          const auto range = memory_.Find(round % 2 == 0 ? "a" : "b",
                                          static_cast<std::uint64_t>(user) * part, part);
          if (!range.ok()) continue;
          op.Apply(range->bytes(), range->bytes().data());
          if (range->lost() && Compare(*range, *range) != Overlap::kSame) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trelu::server
