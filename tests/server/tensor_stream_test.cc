// What may follow what on a stream, and which bytes are whole elements when; without a network.
#include "server/tensor_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "trelu/v1/trelu.pb.h"

namespace trelu::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Join(const Payload& payload) {
  std::string bytes;
  for (const grpc::Slice& slice : payload.slices()) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// One message: with `tensor` when a dtype is given.
struct Message {
  std::optional<int> dtype;
  std::vector<std::int64_t> shape;
  std::string data;
  std::optional<float> alpha = std::nullopt;
};

Message Float32(std::vector<std::int64_t> shape, std::string data = {}) {
  return {1, std::move(shape), std::move(data)};
}
Message Float64(std::vector<std::int64_t> shape, std::string data = {}) {
  return {11, std::move(shape), std::move(data)};
}
Message Data(std::string data) { return {std::nullopt, {}, std::move(data)}; }

ApplyMessage ToMessage(const Message& message) {
  ApplyMessage decoded;
  if (message.dtype) {
    decoded.tensor.emplace();
    decoded.tensor->dtype = *message.dtype;
    decoded.tensor->shape.assign(message.shape.begin(), message.shape.end());
  }
  decoded.alpha = message.alpha;
  if (!message.data.empty()) decoded.data.Append(grpc::Slice(message.data));
  return decoded;
}

// What one message leads to: the whole elements that are ready, and the response about them.
struct Step {
  Message message;
  std::string elements;
  // "-": nothing is said yet. "[...]": a response that carries the tensor.
  std::string response;
};

struct Sequence {
  const char* name;
  std::vector<Step> steps;
  const char* error;  // of the end of the input; null: OK
};

std::string Show(std::optional<grpc::ByteBuffer> response) {
  if (!response) return "-";
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(response->Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  v1::ApplyResponse parsed;
  EXPECT_TRUE(parsed.ParseFromString(bytes));
  return parsed.has_tensor() ? "[" + parsed.data() + "]" : parsed.data();
}

std::vector<Sequence> GoodSequences() {
  return {
      {"WholeTensorInOneMessage", {{Float32({2}, "aaaabbbb"), "aaaabbbb", "[aaaabbbb]"}}, nullptr},
      {"HeaderThenData",
       {{Float32({2}), "", "-"}, {Data("aaaabbbb"), "aaaabbbb", "[aaaabbbb]"}},
       nullptr},
      {"ElementByElement",
       {{Float32({2}, "aaaa"), "aaaa", "[aaaa]"}, {Data("bbbb"), "bbbb", "bbbb"}},
       nullptr},
      {"ByteByByte",
       {{Float32({1}, "a"), "", "-"},
        {Data("b"), "", "-"},
        {Data("c"), "", "-"},
        {Data("d"), "abcd", "[abcd]"}},
       nullptr},
      {"CutInsideElements",
       {{Float32({3}, "aaaabb"), "aaaa", "[aaaa]"},
        {Data("bbcc"), "bbbb", "bbbb"},
        {Data("cc"), "cccc", "cccc"}},
       nullptr},
      {"ElementInFourMessages",
       {{Float64({1}, "ab"), "", "-"},
        {Data("cd"), "", "-"},
        {Data("ef"), "", "-"},
        {Data("gh"), "abcdefgh", "[abcdefgh]"}},
       nullptr},
      {"EmptyMessagesBetween",
       {{Float32({1}), "", "-"},
        {Data(""), "", "-"},
        {Data("aaaa"), "aaaa", "[aaaa]"},
        {Data(""), "", "-"}},
       nullptr},
      {"EmptyMessageInsideAnElement",
       {{Float32({1}, "aa"), "", "-"}, {Data(""), "", "-"}, {Data("aa"), "aaaa", "[aaaa]"}},
       nullptr},
      {"NoElements", {{Float32({2, 0}), "", "[]"}}, nullptr},
      {"NoElementsAndAnEmptyMessage", {{Float32({0}), "", "[]"}, {Data(""), "", "-"}}, nullptr},
      {"Scalar", {{Float32({}, "aaaa"), "aaaa", "[aaaa]"}}, nullptr},
      {"TwoTensors",
       {{Float32({1}, "aaaa"), "aaaa", "[aaaa]"},
        {Float64({1}, "bbbbbbbb"), "bbbbbbbb", "[bbbbbbbb]"}},
       nullptr},
      {"TensorsWithAndWithoutElements",
       {{Float32({0}), "", "[]"},
        {Float32({1}, "aaaa"), "aaaa", "[aaaa]"},
        {Float32({0}), "", "[]"}},
       nullptr},
      {"NoMessage", {}, "stream: ended without any message"},
      {"OnlyAHeader", {{Float32({2}), "", "-"}}, "tensor 0: data: got 0 bytes, expected 8"},
      {"HalfATensor", {{Float32({2}, "aaaa"), "aaaa", "[aaaa]"}}, "tensor 0: data: got 4 bytes"},
      {"HalfAnElement",
       {{Float32({2}, "aaaabb"), "aaaa", "[aaaa]"}},
       "tensor 0: data: got 6 bytes, expected 8 for float32 [2]; the last element is incomplete"},
      {"SecondTensorHalf",
       {{Float32({1}, "aaaa"), "aaaa", "[aaaa]"}, {Float32({1}), "", "-"}},
       "tensor 1: data: got 0 bytes, expected 4"},
  };
}

class TensorStreamSequence : public ::testing::TestWithParam<Sequence> {};

TEST_P(TensorStreamSequence, GivesWholeElementsInOrder) {
  TensorStream stream;
  for (const Step& step : GetParam().steps) {
    auto elements = stream.Take(ToMessage(step.message));
    ASSERT_TRUE(elements.ok()) << elements.status();
    EXPECT_EQ(Join(*elements), step.elements);
    EXPECT_EQ(Show(stream.EncodeResult(*std::move(elements))), step.response);
  }
  const absl::Status end = stream.Finish();
  if (GetParam().error == nullptr) {
    EXPECT_TRUE(end.ok()) << end;
  } else {
    EXPECT_EQ(end.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(end.message()), HasSubstr(GetParam().error));
  }
}

INSTANTIATE_TEST_SUITE_P(All, TensorStreamSequence, ::testing::ValuesIn(GoodSequences()),
                         [](const auto& tested) { return tested.param.name; });

// Messages that are taken, and then one that is not.
struct Refusal {
  const char* name;
  std::vector<Message> before;
  Message refused;
  const char* error;
};

Message WithAlpha(Message message) {
  message.alpha = 0.0F;
  return message;
}

std::vector<Refusal> Refusals() {
  return {
      {"DataFirst", {}, Data("aaaa"), "tensor: missing from the stream's first message"},
      {"EmptyFirst", {}, Data(""), "tensor: missing from the stream's first message"},
      {"AlphaFirst", {}, WithAlpha(Data("")), "tensor: missing"},
      {"UnknownDType", {}, {7, {1}, "aaaa"}, "tensor 0: tensor.dtype = 7"},
      {"NegativeSize", {}, Float32({-4}), "tensor 0: tensor.shape[0] = -4: must be >= 0"},
      {"TooMuchAtOnce",
       {},
       Float32({1}, "aaaab"),
       "tensor 0: data: got more than the 4 bytes of float32 [1]"},
      {"TooMuchLater", {Float32({1}, "aaa")}, Data("ab"), "tensor 0: data: got more than the 4"},
      {"MoreAfterTheEnd", {Float32({1}, "aaaa")}, Data("b"), "tensor 0: data: got more than"},
      {"DataForNoElements", {Float32({0})}, Data("b"), "tensor 0: data: got more than the 0 bytes"},
      {"NextBeforeData", {Float32({1})}, Float32({1}), "tensor 0: data: got 0 bytes, expected 4"},
      {"NextInsideAnElement", {Float32({1}, "aa")}, Float32({1}), "tensor 0: data: got 2 bytes"},
      {"AlphaLater",
       {Float32({2}, "aaaa")},
       WithAlpha(Data("bbbb")),
       "tensor 0: alpha: only allowed together with tensor"},
      {"AlphaAfterTheEnd", {Float32({1}, "aaaa")}, WithAlpha(Data("")), "tensor 0: alpha: only"},
      {"SecondWrong",
       {Float32({1}, "aaaa")},
       Float32({1, -1}),
       "tensor 1: tensor.shape[1] = -1: must be >= 0"},
      {"ThirdTooLong",
       {Float32({0}), Float32({1}, "aaaa")},
       Float32({1}, "aaaab"),
       "tensor 2: data: got more than the 4 bytes"},
  };
}

class TensorStreamRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(TensorStreamRefusal, NamesTheTensorAndTheField) {
  TensorStream stream;
  for (const Message& message : GetParam().before) {
    auto elements = stream.Take(ToMessage(message));
    ASSERT_TRUE(elements.ok()) << elements.status();
    stream.EncodeResult(*std::move(elements));
  }
  const absl::Status refused = stream.Take(ToMessage(GetParam().refused)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), StartsWith(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(All, TensorStreamRefusal, ::testing::ValuesIn(Refusals()),
                         [](const auto& tested) { return tested.param.name; });

TEST(TensorStream, EachTensorHasItsOwnOperator) {
  const std::string half("\0\0\0\x3f", 4);
  const auto result_of = [&](TensorStream& stream, const Message& message) {
    auto elements = stream.Take(ToMessage(message));
    elements->MutableSegments().ApplyInPlace(stream.op(), 0, elements->bytes());
    return Join(*elements);
  };
  TensorStream stream;
  EXPECT_EQ(result_of(stream, WithAlpha(Float32({1}, half))), half);
  EXPECT_EQ(result_of(stream, Float32({1}, half)), std::string(4, '\0'));
  EXPECT_EQ(result_of(stream, {16, {2}, half, -1.0F}), half);
}

}  // namespace
}  // namespace trelu::server
