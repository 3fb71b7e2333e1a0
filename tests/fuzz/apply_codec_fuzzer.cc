// Any bytes, cut into slices anywhere: the codec and protobuf's own classes agree on whether they
// are a message, on every field, and on how it is written again.
#include "tests/fuzz/cut_input.h"
#include "tests/proto/agreement.h"
#include "tests/proto/message_bytes.h"

using trelu::testing::Cut;
using trelu::testing::CutInput;
using trelu::testing::RequestDisagreement;
using trelu::testing::Require;
using trelu::testing::ResponseDisagreement;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const CutInput input(data, size);
  Require("ApplyRequest", RequestDisagreement(input.message, Cut(input.message, input.cuts)));
  Require("ApplyResponse", ResponseDisagreement(input.message, Cut(input.message, input.cuts)));
  return 0;
}
