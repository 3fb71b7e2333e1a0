// Which of the caller's memory counts as shared with the server.
#include "client/shared_memory/shared_buffers.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace trelu::testing {
namespace {

constexpr std::size_t kBytes = 4096;

class SharedBuffersTest : public ::testing::Test {
 protected:
  std::shared_ptr<SharedRegion> NewRegion() {
    auto region = std::make_shared<SharedRegion>(
        MemoryObject::Create("/trelu_test_", kBytes).value(), registrations_);
    region->Unlink();
    region->set_known(true);
    return region;
  }
  bool IsShared(const std::byte* begin, std::size_t bytes) const {
    return buffers_->Find({begin, bytes}).has_value();
  }

  const std::shared_ptr<Registrations> registrations_ =
      std::make_shared<Registrations>([](const std::string&) {});
  const std::shared_ptr<SharedBuffers> buffers_ = std::make_shared<SharedBuffers>();
};

TEST_F(SharedBuffersTest, ASpanIsSharedIfAllOfItLiesInOneBuffer) {
  const auto region = NewRegion();
  auto buffer = buffers_->Wrap(region, kBytes);
  const std::byte* const begin = buffer->bytes().data();
  EXPECT_TRUE(IsShared(begin, kBytes));
  EXPECT_TRUE(IsShared(begin + 1, kBytes - 1));
  EXPECT_TRUE(IsShared(begin + kBytes - 1, 1));
  EXPECT_FALSE(IsShared(begin, kBytes + 1));
  EXPECT_FALSE(IsShared(begin + 1, kBytes));
  EXPECT_FALSE(IsShared(begin + kBytes - 1, 2));
  EXPECT_FALSE(IsShared(begin + kBytes, 1));
  EXPECT_FALSE(IsShared(begin - 1, 1));
  EXPECT_FALSE(IsShared(begin - 1, 2));

  const auto place = buffers_->Find({begin + 5, 7});
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->region, region);
  EXPECT_EQ(place->offset, 5U);
  buffer.reset();
  EXPECT_FALSE(IsShared(begin, 1));
}

TEST_F(SharedBuffersTest, WhatTheServerHasForgottenIsNotShared) {
  const auto region = NewRegion();
  const auto buffer = buffers_->Wrap(region, kBytes);
  buffers_->Forget();
  EXPECT_FALSE(buffer->shared());
  EXPECT_FALSE(IsShared(buffer->bytes().data(), kBytes));
}

}  // namespace
}  // namespace trelu::testing
