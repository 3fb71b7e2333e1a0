// Bytes that arrive cut anywhere, handed on cut between elements.
#ifndef TRELU_CLIENT_COMMAND_WHOLE_ELEMENTS_H_
#define TRELU_CLIENT_COMMAND_WHOLE_ELEMENTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace trelu::command {

// Holds at most one element that is not complete yet. A value; one thread.
class WholeElements {
 public:
  explicit WholeElements(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  // Calls `take` with the elements that `bytes` completes, in order; each call's bytes are valid
  // during the call. Bytes of a last, incomplete element wait for the next Add.
  template <typename Take>
  void Add(std::span<const std::byte> bytes, Take&& take) {
    if (held_ > 0) {
      const std::size_t count = std::min(bytes.size(), element_bytes_ - held_);
      std::copy_n(bytes.begin(), count, element_.begin() + held_);
      held_ += count;
      bytes = bytes.subspan(count);
      if (held_ < element_bytes_) return;
      take(std::span<const std::byte>(element_).first(element_bytes_));
      held_ = 0;
    }
    const std::size_t whole = bytes.size() / element_bytes_ * element_bytes_;
    if (whole > 0) take(bytes.first(whole));
    held_ = bytes.size() - whole;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(whole), held_, element_.begin());
  }

 private:
  std::size_t element_bytes_;
  std::array<std::byte, 8> element_{};
  std::size_t held_ = 0;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_WHOLE_ELEMENTS_H_
