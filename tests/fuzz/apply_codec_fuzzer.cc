// Any bytes, cut into slices anywhere: the codec and protobuf's own classes agree on whether they
// are a message, on every field, and on how it is written again.
//
// An input is one byte that says how many cuts follow (0 to 3), a byte for each - how far behind
// the last one it lies - and the message.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/proto/agreement.h"
#include "tests/proto/message_bytes.h"

namespace {

using trelu::testing::Cut;

void Require(std::string_view type, const std::string& disagreement) {
  if (disagreement.empty()) return;
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(type.size()), type.data(),
               disagreement.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto take = [&input] {
    const auto byte = static_cast<std::uint8_t>(input.empty() ? 0 : input[0]);
    if (!input.empty()) input.remove_prefix(1);
    return byte;
  };
  std::vector<std::size_t> cuts(take() % 4);
  std::size_t at = 0;
  for (std::size_t& cut : cuts) cut = at += take();
  for (std::size_t& cut : cuts) cut = cut < input.size() ? cut : input.size();

  Require("ApplyRequest", trelu::testing::RequestDisagreement(input, Cut(input, cuts)));
  Require("ApplyResponse", trelu::testing::ResponseDisagreement(input, Cut(input, cuts)));
  return 0;
}
