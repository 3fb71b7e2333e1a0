// Wrong tensors and wrong streams: INVALID_ARGUMENT that names the field, what it got and what was
// expected; everybody else unharmed and nothing left behind.
#include "tests/e2e/bad_input.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace trelu::testing {
namespace {

constexpr std::int64_t k2To32 = std::int64_t{1} << 32;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

// A good request with one thing changed.
struct BadTensor {
  const char* name;
  std::function<void(v1::ApplyRequest&)> change;
  std::vector<std::string> named;  // in the message
};

std::function<void(v1::ApplyRequest&)> Shape(std::vector<std::int64_t> shape, std::size_t bytes) {
  return [shape, bytes](v1::ApplyRequest& request) {
    request.mutable_tensor()->mutable_shape()->Assign(shape.begin(), shape.end());
    request.set_data(std::string(bytes, 'x'));
  };
}

std::function<void(v1::ApplyRequest&)> Type(int number, std::size_t bytes = 8) {
  return [number, bytes](v1::ApplyRequest& request) {
    request.mutable_tensor()->set_dtype(static_cast<v1::DataType>(number));
    request.set_data(std::string(bytes, 'x'));
  };
}

std::vector<BadTensor> BadTensors() {
  const std::string dtypes = "expected 1 (FLOAT), 10 (FLOAT16), 11 (DOUBLE) or 16 (BFLOAT16)";
  return {
      {"SizeMinusOne", Shape({-1}, 0), {"tensor.shape[0] = -1: must be >= 0"}},
      {"SecondSizeMinusOne", Shape({2, -1}, 8), {"tensor.shape[1] = -1"}},
      {"SizeSmallest", Shape({kSmallest}, 0), {"tensor.shape[0] = -9223372036854775808"}},
      {"ZeroBesideNegative", Shape({0, -1}, 0), {"tensor.shape[1] = -1"}},
      {"NoElementsWithData", Shape({2, 0}, 8), {"data: got ", "0", "float32 [2, 0]"}},
      {"ScalarWithoutData", Shape({}, 0), {"data: got 0 bytes, expected 4", "float32 []"}},
      {"Rank65", Shape(std::vector<std::int64_t>(65, 1), 4), {"tensor.rank 65: at most 64"}},
      {"Rank1000", Shape(std::vector<std::int64_t>(1000, 1), 4), {"tensor.rank 1000: at most 64"}},
      {"ProductIsZeroMod2To64",
       Shape({k2To32, k2To32}, 0),
       {"tensor.shape: element count overflows"}},
      {"ProductWrapsWithMore", Shape({k2To32, k2To32, 16}, 0), {"tensor.shape: element count"}},
      {"LargestTimesTwo", Shape({kLargest, 2}, 0), {"tensor.shape: element count overflows"}},
      {"ZeroHidesNothing",
       Shape({k2To32, k2To32, 0}, 0),
       {"tensor.shape: element count overflows"}},
      {"ByteCountWraps", Shape({std::int64_t{1} << 61}, 0), {"tensor.shape: byte count overflows"}},
      {"LargestCount", Shape({kLargest}, 4), {"tensor.shape: byte count overflows"}},
      {"DeclaredHugeSentNothing",
       Shape({std::int64_t{1} << 31}, 0),
       {"data: got 0 bytes, expected 8589934592", "float32 [2147483648]"}},
      {"DTypeUnspecified", Type(0), {"tensor.dtype = 0", dtypes}},
      {"DTypeString", Type(8), {"tensor.dtype = 8", dtypes}},
      {"DTypeInt8", Type(3), {"tensor.dtype = 3"}},
      {"DTypeBool", Type(9), {"tensor.dtype = 9"}},
      {"DType999", Type(999), {"tensor.dtype = 999"}},
      {"DTypeMinusOne", Type(-1), {"tensor.dtype = -1"}},
      {"DTypeLargest", Type(std::numeric_limits<int>::max()), {"tensor.dtype = 2147483647"}},
      {"DTypeSmallest", Type(std::numeric_limits<int>::min()), {"tensor.dtype = -2147483648"}},
      {"NoData", Shape({2}, 0), {"data: got 0 bytes, expected 8 for float32 [2]"}},
      {"OneByteShort", Shape({2}, 7), {"data: got 7 bytes, expected 8"}},
      {"OneByteLong", Shape({2}, 9), {"data: got", "8"}},
      {"OneElementShort", Shape({2}, 4), {"data: got 4 bytes, expected 8"}},
      {"OneElementLong", Shape({2}, 12), {"data: got", "8"}},
      {"OddBytesFloat16", Type(10, 3), {"data: got 3 bytes, expected 4 for float16 [2]"}},
      {"OddBytesBFloat16", Type(16, 3), {"data: got 3 bytes, expected 4 for bfloat16 [2]"}},
      {"HalfADouble", Type(11, 12), {"data: got 12 bytes, expected 16 for float64 [2]"}},
      {"NoTensor", [](v1::ApplyRequest& request) { request.clear_tensor(); }, {"tensor: missing"}},
      {"EmptyMessage", [](v1::ApplyRequest& request) { request.Clear(); }, {"tensor: missing"}},
      {"EmptyTensor",
       [](v1::ApplyRequest& request) { request.mutable_tensor()->Clear(); },
       {"tensor.dtype = 0"}},
      {"AlphaWithoutTensor",
       [](v1::ApplyRequest& request) {
         request.Clear();
         request.set_alpha(1);
       },
       {"tensor: missing"}},
  };
}

v1::ApplyRequest Make(const BadTensor& bad) {
  v1::ApplyRequest request = ToRequest(GoodTensor());
  bad.change(request);
  return request;
}

class BadTensorInput : public BadInput {};

TEST_F(BadTensorInput, UnaryIsRefused) {
  for (const BadTensor& bad : BadTensors()) {
    const Answer answer = client_.Apply(Make(bad));
    ExpectRefused(bad.name, answer.status, grpc::INVALID_ARGUMENT, bad.named);
    EXPECT_TRUE(answer.trailers.empty()) << bad.name;
    ExpectOthersUnharmed(bad.name);
  }
}

TEST_F(BadTensorInput, FirstOnAStreamIsRefused) {
  for (const BadTensor& bad : BadTensors()) {
    std::vector<std::string> named = bad.named;
    // Without a tensor there is none to count.
    if (named[0] != "tensor: missing") named.push_back("tensor 0: ");
    ExpectRefused(bad.name, Stream({Make(bad).SerializeAsString()}), grpc::INVALID_ARGUMENT, named);
    ExpectOthersUnharmed(bad.name);
  }
}

TEST_F(BadTensorInput, ThirdOnAStreamIsRefusedByItsIndex) {
  const std::string good = ToRequest(GoodTensor()).SerializeAsString();
  for (const BadTensor& bad : BadTensors()) {
    // A message without tensor continues the one before.
    if (!Make(bad).has_tensor()) continue;
    std::vector<std::string> named = bad.named;
    named.push_back("tensor 2: ");
    ExpectRefused(bad.name, Stream({good, good, Make(bad).SerializeAsString()}),
                  grpc::INVALID_ARGUMENT, named);
    ExpectOthersUnharmed(bad.name);
  }
}

struct BadStream {
  const char* name;
  std::vector<v1::ApplyRequest> messages;
  std::vector<std::string> named;
};

// A tensor [4] of float32 with `bytes` bytes of its data.
v1::ApplyRequest Begin(std::size_t bytes) {
  return ToRequest({DType::kFloat32, {4}, std::nullopt, std::string(bytes, 'x')});
}

v1::ApplyRequest Continue(std::size_t bytes) {
  v1::ApplyRequest request;
  request.set_data(std::string(bytes, 'x'));
  return request;
}

v1::ApplyRequest ContinueWithAlpha(std::size_t bytes) {
  v1::ApplyRequest request = Continue(bytes);
  request.set_alpha(0);
  return request;
}

std::vector<BadStream> BadStreams() {
  return {
      {"NoMessage", {}, {"stream: ended without any message"}},
      {"BeginsWithData", {Continue(4)}, {"tensor: missing from the stream's first message"}},
      {"BeginsWithAlpha", {ContinueWithAlpha(4)}, {"tensor: missing"}},
      {"BeginsWithEmptyMessage", {v1::ApplyRequest()}, {"tensor: missing"}},
      {"HeaderOnly", {Begin(0)}, {"tensor 0: data: got 0 bytes, expected 16 for float32 [4]"}},
      {"EndsHalfWay", {Begin(4), Continue(4)}, {"tensor 0: data: got 8 bytes, expected 16"}},
      {"EndsInsideAnElement",
       {Begin(4), Continue(11)},
       {"tensor 0: data: got 15 bytes, expected 16", "the last element is incomplete"}},
      {"TensorInsideATensor", {Begin(8), Begin(16)}, {"tensor 0: data: got 8 bytes, expected 16"}},
      {"TensorInsideAnElement", {Begin(7), Begin(16)}, {"tensor 0: data: got 7 bytes"}},
      {"OneByteTooMany", {Begin(16), Continue(1)}, {"tensor 0: data: got more than the 16 bytes"}},
      {"TooManyInOneMessage", {Begin(8), Continue(9)}, {"tensor 0: data: got more than the 16"}},
      {"FarTooMany",
       {Begin(16), Continue(1 << 20), Continue(1 << 20)},
       {"tensor 0: data: got more"}},
      {"AlphaInTheMiddle",
       {Begin(8), ContinueWithAlpha(8)},
       {"tensor 0: alpha: only allowed together with tensor"}},
      {"AlphaAfterTheEnd", {Begin(16), ContinueWithAlpha(0)}, {"tensor 0: alpha: only allowed"}},
      {"DataForNoElements",
       {ToRequest({DType::kFloat32, {0}, std::nullopt, ""}), Continue(4)},
       {"tensor 0: data: got more than the 0 bytes"}},
      {"SecondIsTruncated",
       {Begin(16), Begin(3)},
       {"tensor 1: data: got 3 bytes, expected 16", "the last element is incomplete"}},
  };
}

class BadStreamInput : public BadInput {};

TEST_F(BadStreamInput, IsRefused) {
  for (const BadStream& bad : BadStreams()) {
    std::vector<std::string> messages;
    for (const auto& message : bad.messages) messages.push_back(message.SerializeAsString());
    ExpectRefused(bad.name, Stream(messages), grpc::INVALID_ARGUMENT, bad.named);
    ExpectOthersUnharmed(bad.name);
  }
}

// The flood is stopped by the transport, not taken in.
TEST_F(BadStreamInput, ReadingStopsAtTheFirstByteTooMany) {
  auto stream = client_.OpenStream();
  stream->Write(Begin(16).SerializeAsString());
  const std::string mebibyte = Continue(1 << 20).SerializeAsString();
  int written = 0;
  while (written < 1024 && stream->Write(mebibyte)) ++written;
  EXPECT_LT(written, 256) << "of 1024 MiB";
  ExpectRefused("flood", stream->Finish(), grpc::INVALID_ARGUMENT, {"tensor 0: data: got more"});
}

}  // namespace
}  // namespace trelu::testing
