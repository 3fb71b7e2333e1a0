#include "proto/slice_stream.h"

#include <grpcpp/impl/grpc_library.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace trelu {
namespace {

// What else of gRPC sets up what slices need may not be linked in here.
const grpc::internal::GrpcLibraryInitializer kSetUp;

std::string Next(SliceStream& stream) {
  const void* data = nullptr;
  int size = 0;
  return stream.Next(&data, &size)
             ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size))
             : "(end)";
}

TEST(SliceStreamTest, GivesSliceAfterSlice) {
  const std::array slices = {grpc::Slice("abc"), grpc::Slice(), grpc::Slice("de")};
  SliceStream stream(slices);
  EXPECT_EQ(Next(stream), "abc");
  EXPECT_EQ(Next(stream), "de");
  EXPECT_EQ(stream.ByteCount(), 5);
  EXPECT_EQ(Next(stream), "(end)");
}

TEST(SliceStreamTest, GivesAgainWhatWasBackedUp) {
  const std::array slices = {grpc::Slice("abc"), grpc::Slice("de")};
  SliceStream stream(slices);
  EXPECT_EQ(Next(stream), "abc");
  stream.BackUp(2);
  EXPECT_EQ(stream.ByteCount(), 1);
  EXPECT_EQ(Next(stream), "bc");
  EXPECT_EQ(Next(stream), "de");
}

// protobuf asks for it after malformed messages.
TEST(SliceStreamTest, BacksUpNoFurtherThanTheSlice) {
  const std::array slices = {grpc::Slice("abc"), grpc::Slice("de")};
  SliceStream stream(slices);
  EXPECT_EQ(Next(stream), "abc");
  EXPECT_EQ(Next(stream), "de");
  stream.BackUp(16);
  EXPECT_EQ(stream.ByteCount(), 3);
  EXPECT_EQ(Next(stream), "de");
}

TEST(SliceStreamTest, SkipsAcrossSlices) {
  const std::array slices = {grpc::Slice("abc"), grpc::Slice("de")};
  SliceStream stream(slices);
  EXPECT_TRUE(stream.Skip(0));
  EXPECT_TRUE(stream.Skip(4));
  EXPECT_EQ(Next(stream), "e");
  EXPECT_FALSE(stream.Skip(1));
}

}  // namespace
}  // namespace trelu
