// A run of bytes cut into ranges, for tests of what works on segments.
#ifndef TRELU_TESTS_CORE_CUT_COPY_H_
#define TRELU_TESTS_CORE_CUT_COPY_H_

#include <cstddef>
#include <vector>

#include "core/segments.h"

namespace trelu::testing {

// The ranges lie apart, as received slices do, so that nothing can be right because they adjoin.
class CutCopy {
 public:
  // `cuts` rise; each is a byte offset at which one range ends and the next begins.
  CutCopy(const std::vector<std::byte>& bytes, const std::vector<std::size_t>& cuts) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
      const std::size_t end = i < cuts.size() ? cuts[i] : bytes.size();
      const auto at = [&bytes](std::size_t offset) {
        return bytes.begin() + static_cast<std::ptrdiff_t>(offset);
      };
      pieces_.emplace_back(at(begin), at(end));
      begin = end;
    }
    for (std::vector<std::byte>& piece : pieces_) segments_.Append(piece);
  }

  const Segments& segments() const { return segments_; }
  std::vector<std::byte> Joined() const {
    std::vector<std::byte> bytes;
    for (const std::vector<std::byte>& piece : pieces_) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
  }

 private:
  std::vector<std::vector<std::byte>> pieces_;
  Segments segments_;
};

// Cuts after every `range_bytes` bytes.
inline std::vector<std::size_t> CutsEvery(std::size_t range_bytes, std::size_t bytes) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = range_bytes; cut < bytes; cut += range_bytes) cuts.push_back(cut);
  return cuts;
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_CORE_CUT_COPY_H_
