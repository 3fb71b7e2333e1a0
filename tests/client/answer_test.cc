// Answers that are not the request's: never a success, never a byte outside the caller's memory.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/client/tensors.h"
#include "tests/support/fake_server.h"
#include "trelu/client.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::testing {
namespace {

struct Case {
  std::string name;
  std::function<void(v1::ApplyResponse&)> distort;
  std::string message;
};

class WrongAnswerTest : public ::testing::TestWithParam<Case> {
 protected:
  WrongAnswerTest() { server_.SetScript({.distort = GetParam().distort}); }

  std::unique_ptr<Client> Connect(std::uint64_t stream_above_bytes) {
    return Client::Create({.target = server_.target(), .stream_above_bytes = stream_above_bytes})
        .value();
  }

  FakeServer server_;
  const TensorSpec spec_ = Spec(DType::kFloat32, {10, 10});
  const Bytes x_ = SomeBytes(spec_.bytes());
  // On the heap, with its exact size, so that the address sanitizer sees a byte outside.
  Bytes y_ = Bytes(x_.size());
};

TEST_P(WrongAnswerTest, OfApplyIsDataLoss) {
  EXPECT_EQ(Connect(1000)->Apply(spec_, x_, y_), absl::DataLossError(GetParam().message));
  EXPECT_EQ(server_.tries(), 1);
}

TEST_P(WrongAnswerTest, OfApplyAsyncIsDataLoss) {
  std::promise<absl::Status> status;
  const auto client = Connect(1000);
  client->ApplyAsync(spec_, x_, y_, {}, [&](absl::Status s) { status.set_value(std::move(s)); });
  EXPECT_EQ(status.get_future().get(), absl::DataLossError(GetParam().message));
}

TEST_P(WrongAnswerTest, OfAStreamIsDataLoss) {
  EXPECT_EQ(Connect(0)->Apply(spec_, x_, y_), absl::DataLossError(GetParam().message));
  EXPECT_EQ(server_.tries(), 1);
}

const std::string kOtherTensor = "the answer's tensor is not the request's: another dtype or shape";

INSTANTIATE_TEST_SUITE_P(
    Distortions, WrongAnswerTest,
    ::testing::Values(
        Case{"OneByteShort", [](auto& r) { r.mutable_data()->pop_back(); },
             "the answer has 399 bytes, the request had 400"},
        Case{"OneByteLong", [](auto& r) { r.mutable_data()->push_back('x'); },
             "the answer has more than the 400 bytes of the request"},
        Case{"MuchTooLong", [](auto& r) { r.mutable_data()->append(1 << 20, 'x'); },
             "the answer has more than the 400 bytes of the request"},
        Case{"NoBytes", [](auto& r) { r.clear_data(); },
             "the answer has 0 bytes, the request had 400"},
        Case{"NoTensor", [](auto& r) { r.clear_tensor(); }, "the answer has no tensor"},
        Case{"Nothing", [](auto& r) { r.Clear(); }, "the answer has no tensor"},
        Case{"OtherDtype", [](auto& r) { r.mutable_tensor()->set_dtype(v1::DATA_TYPE_DOUBLE); },
             kOtherTensor},
        Case{"OtherShapeOfTheSameSize",
             [](auto& r) {
               r.mutable_tensor()->set_shape(0, 20);
               r.mutable_tensor()->set_shape(1, 5);
             },
             kOtherTensor},
        Case{"OtherRank", [](auto& r) { r.mutable_tensor()->add_shape(1); }, kOtherTensor}),
    [](const auto& info) { return info.param.name; });

class WrongStreamTest : public ::testing::Test {
 protected:
  absl::Status Apply(const Script& script) {
    server_.SetScript(script);
    const auto client =
        Client::Create({.target = server_.target(), .stream_above_bytes = 0}).value();
    const TensorSpec spec = Spec(DType::kFloat32, {100});
    Bytes tensor = SomeBytes(spec.bytes());
    return client->Apply(spec, tensor, tensor);
  }

  FakeServer server_;
};

TEST_F(WrongStreamTest, WithoutAnyAnswerIsDataLoss) {
  EXPECT_EQ(Apply({.answers = 0}), absl::DataLossError("the answer has no tensor"));
}

TEST_F(WrongStreamTest, CutShortIsDataLoss) {
  EXPECT_EQ(Apply({.answer_bytes = 100, .answers = 3}),
            absl::DataLossError("the answer has 300 bytes, the request had 400"));
}

TEST_F(WrongStreamTest, WithASecondTensorIsDataLoss) {
  EXPECT_EQ(Apply({.distort =
                       [](auto& r) {
                         r.mutable_tensor()->set_dtype(v1::DATA_TYPE_FLOAT);
                         r.mutable_tensor()->clear_shape();
                         r.mutable_tensor()->add_shape(100);
                       },
                   .answer_bytes = 100}),
            absl::DataLossError("the answer has a second tensor"));
}

}  // namespace
}  // namespace trelu::testing
