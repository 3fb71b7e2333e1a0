// Any bytes, cut into slices anywhere: the codec and protobuf's own classes agree on whether they
// are an infer message, on every field and element, and on how it is written again.
#include "tests/fuzz/cut_input.h"
#include "tests/proto/infer_agreement.h"
#include "tests/proto/message_bytes.h"

using trelu::testing::Cut;
using trelu::testing::CutInput;
using trelu::testing::InferRequestDisagreement;
using trelu::testing::InferResponseDisagreement;
using trelu::testing::Require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const CutInput input(data, size);
  Require("ModelInferRequest",
          InferRequestDisagreement(input.message, Cut(input.message, input.cuts)));
  Require("ModelInferResponse",
          InferResponseDisagreement(input.message, Cut(input.message, input.cuts)));
  return 0;
}
