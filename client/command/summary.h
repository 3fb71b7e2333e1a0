// What there is to say of a result that is too large to show.
#ifndef TRELU_CLIENT_COMMAND_SUMMARY_H_
#define TRELU_CLIENT_COMMAND_SUMMARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "client/command/checksum.h"
#include "client/command/whole_elements.h"
#include "trelu/tensor_spec.h"

namespace trelu::command {

// Watches a result's bytes go by in pieces of any size. A value; one thread.
class Summary {
 public:
  explicit Summary(const TensorSpec& spec);

  void Add(std::span<const std::byte> result);

  // After the last Add, of at least one element: how many are not +0, the least and the greatest (a
  // NaN is neither), the first and last ones, and the CRC-32C of the bytes. Lines that end with a
  // new line.
  std::string Text() const;

 private:
  static constexpr std::size_t kEnds = 4;  // elements shown of each end

  void AddElements(std::span<const std::byte> elements);
  std::string Ends(std::span<const std::byte> elements) const;

  TensorSpec spec_;
  std::size_t end_bytes_;
  WholeElements whole_;
  Crc32c checksum_;
  std::uint64_t nonzero_ = 0;
  // Bit patterns as integers in the order of the numbers they stand for.
  std::int64_t least_key_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest_key_ = std::numeric_limits<std::int64_t>::min();
  std::vector<std::byte> first_;
  std::vector<std::byte> last_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_SUMMARY_H_
