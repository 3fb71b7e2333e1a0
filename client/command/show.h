// A small tensor as text.
#ifndef TRELU_CLIENT_COMMAND_SHOW_H_
#define TRELU_CLIENT_COMMAND_SHOW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "trelu/tensor_spec.h"

namespace trelu::command {

// Tensors with more elements are summarised instead.
inline constexpr std::int64_t kMaxShownElements = 100;

// "float32 [2, 3]".
std::string SpecText(const TensorSpec& spec);

// The elements in nested brackets, right-aligned, as NumPy prints them:
//   [[0, 0, 2],
//    [3, 4, 5]]
// `elements` are spec.bytes() row-major bytes. Rows wrap at 80 columns. Ends with a new line.
std::string ShowTensor(const TensorSpec& spec, std::span<const std::byte> elements);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_SHOW_H_
