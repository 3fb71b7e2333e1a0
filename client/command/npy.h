// NumPy's .npy files: a short text header before the elements.
// (numpy.org, "NEP 1 - a simple file format for NumPy arrays", and numpy.lib.format.)
#ifndef TRELU_CLIENT_COMMAND_NPY_H_
#define TRELU_CLIENT_COMMAND_NPY_H_

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/command/input_file.h"
#include "client/command/tensor_input.h"

namespace trelu::command {

// What every .npy file begins with.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  TensorSpec spec;
  bool big_endian = false;
  bool fortran_order = false;
};

// Reads the header's text, the Python dictionary
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// descr: f2, f4 and f8 of either endianness, or bfloat16. NumPy has no bfloat16 and writes it as
// void of two bytes (V2): taken as bfloat16 only when `stated` says so, never by guess. A `stated`
// that contradicts the descr is an error. INVALID_ARGUMENT naming the field, got and expected.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view text, std::optional<DType> stated);

// The tensor in `file`, versions 1.0 to 3.0, which must end with the last element.
absl::StatusOr<TensorInput> ReadNpy(std::shared_ptr<InputFile> file, std::optional<DType> stated);

// All that stands before the elements of a little-endian file, version 1.0. bfloat16 is written as
// NumPy does, |V2.
std::string NpyPreamble(const TensorSpec& spec, bool fortran_order);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_NPY_H_
