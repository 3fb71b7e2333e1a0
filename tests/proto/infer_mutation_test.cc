// Random damage to valid infer messages: the codec and protobuf agree on every one. Seeds are
// fixed, so a failure repeats.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "inference/open_inference.pb.h"
#include "tests/proto/infer_agreement.h"
#include "tests/proto/mutation.h"

namespace trelu::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kIterations = 10000;  // ten times slower; the fuzzer goes further
#else
constexpr int kIterations = 100000;
#endif

// Tags of the fields that are taken out and of the messages around them, packed and not.
constexpr std::string_view kTelling(
    "\x00\x01\x04\x08\x0a\x0b\x0c\x12\x1a\x22\x2a\x2b\x2c\x32\x35\x39\x3a\x7f\x80\x81\xaa\xff", 22);

void AddParameter(Random& random,
                  google::protobuf::Map<std::string, inference::InferParameter>& to) {
  inference::InferParameter& parameter =
      to[std::string(1, static_cast<char>('a' + random.Below(3)))];
  switch (random.Below(4)) {
    case 0:
      parameter.set_bool_param(true);
      break;
    case 1:
      parameter.set_int64_param(static_cast<std::int64_t>(random.Bits() >> random.Below(64)));
      break;
    case 2:
      parameter.set_string_param("text");
      break;
    default:
      parameter.set_double_param(0.5);
  }
}

template <typename Tensor>
void FillTensor(Random& random, Tensor& tensor) {
  tensor.set_name("X");
  if (!random.OneIn(4)) tensor.set_datatype("FP32");
  for (std::size_t rank = random.Below(4); rank > 0; --rank) {
    tensor.add_shape(static_cast<std::int64_t>(random.Bits() >> random.Below(64)));
  }
  if (random.OneIn(4)) AddParameter(random, *tensor.mutable_parameters());
  if (random.OneIn(3)) return;
  for (std::size_t size = random.Below(6); size > 0; --size) {
    tensor.mutable_contents()->add_fp32_contents(1.0F);
  }
  for (std::size_t size = random.Below(3); size > 0; --size) {
    tensor.mutable_contents()->add_fp64_contents(1.0);
  }
  if (random.OneIn(4)) tensor.mutable_contents()->add_int_contents(7);
}

std::string ValidRequest(Random& random) {
  inference::ModelInferRequest request;
  request.set_model_name("model");
  if (random.OneIn(2)) request.set_id("id");
  if (random.OneIn(4)) AddParameter(random, *request.mutable_parameters());
  for (std::size_t size = random.Below(3); size > 0; --size) {
    FillTensor(random, *request.add_inputs());
  }
  if (random.OneIn(2)) request.add_outputs()->set_name("Y");
  for (std::size_t size = random.Below(3); size > 0; --size) {
    request.add_raw_input_contents(std::string(random.Below(40), 'x'));
  }
  return request.SerializeAsString();
}

std::string ValidResponse(Random& random) {
  inference::ModelInferResponse response;
  response.set_model_name("model");
  if (random.OneIn(4)) AddParameter(random, *response.mutable_parameters());
  for (std::size_t size = random.Below(3); size > 0; --size) {
    FillTensor(random, *response.add_outputs());
  }
  for (std::size_t size = random.Below(3); size > 0; --size) {
    response.add_raw_output_contents(std::string(random.Below(40), 'x'));
  }
  return response.SerializeAsString();
}

TEST(InferMutationTest, CodecAgreesWithProtobuf) {
  Random random(20260101);
  int valid = 0;
  for (int i = 0; i < kIterations; ++i) {
    std::string bytes = random.OneIn(2) ? ValidRequest(random) : ValidResponse(random);
    for (std::size_t times = random.Below(4); times > 0; --times) {
      Damage(random, kTelling, ValidRequest(random), bytes);
    }
    ASSERT_EQ(InferRequestDisagreement(bytes, CutAtRandom(random, bytes)), "")
        << i << " " << Hex(bytes);
    ASSERT_EQ(InferResponseDisagreement(bytes, CutAtRandom(random, bytes)), "")
        << i << " " << Hex(bytes);
    valid += inference::ModelInferRequest().ParseFromString(bytes) ? 1 : 0;
  }
  // Both outcomes are exercised.
  EXPECT_GT(valid, kIterations / 4);
  EXPECT_LT(valid, kIterations * 3 / 4);
}

}  // namespace
}  // namespace trelu::testing
