// A fuzzer's input as a message in slices.
#ifndef TRELU_TESTS_FUZZ_CUT_INPUT_H_
#define TRELU_TESTS_FUZZ_CUT_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace trelu::testing {

// An input is one byte that says how many cuts follow (0 to 3), a byte for each - how far behind
// the last one it lies - and the message.
struct CutInput {
  CutInput(const std::uint8_t* data, std::size_t size)
      : message(reinterpret_cast<const char*>(data), size), cuts(Take() % 4) {
    std::size_t at = 0;
    for (std::size_t& cut : cuts) cut = at += Take();
    for (std::size_t& cut : cuts) cut = cut < message.size() ? cut : message.size();
  }

  std::string_view message;
  std::vector<std::size_t> cuts;  // offsets in `message`

 private:
  std::uint8_t Take() {
    const auto byte = static_cast<std::uint8_t>(message.empty() ? 0 : message[0]);
    if (!message.empty()) message.remove_prefix(1);
    return byte;
  }
};

// Ends the process, which is how a fuzzer learns of a finding, unless `disagreement` is empty.
inline void Require(std::string_view type, const std::string& disagreement) {
  if (disagreement.empty()) return;
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(type.size()), type.data(),
               disagreement.c_str());
  std::abort();
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_FUZZ_CUT_INPUT_H_
