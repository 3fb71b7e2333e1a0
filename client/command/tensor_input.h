// A tensor that is ready to be read, wherever it comes from.
#ifndef TRELU_CLIENT_COMMAND_TENSOR_INPUT_H_
#define TRELU_CLIENT_COMMAND_TENSOR_INPUT_H_

#include <absl/status/statusor.h>

#include <string>

#include "trelu/client.h"
#include "trelu/tensor_spec.h"

namespace trelu::command {

struct TensorInput {
  TensorSpec spec;
  // Gives spec.bytes() bytes, little-endian, once. Its errors are of the input: INVALID_ARGUMENT
  // when it is not what it says.
  Client::Source source;
  // The elements come first dimension fastest, not last.
  bool fortran_order = false;
  // The tensor's name, for formats that have one.
  std::string name;
};

// `input` with its elements in row-major order. Reads it whole when it is not so already:
// RESOURCE_EXHAUSTED above 4 GiB.
absl::StatusOr<TensorInput> InRowMajor(TensorInput input);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_TENSOR_INPUT_H_
