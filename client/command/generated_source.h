// Tensors made on the spot, so that huge ones can be sent without a disk.
#ifndef TRELU_CLIENT_COMMAND_GENERATED_SOURCE_H_
#define TRELU_CLIENT_COMMAND_GENERATED_SOURCE_H_

#include <cstdint>

#include "trelu/client.h"
#include "trelu/tensor_spec.h"

namespace trelu::command {

// Elements of any dtype with random sign and mantissa and a magnitude in [0.25, 4): a quarter of
// them is above 1. The same seed and dtype always give the same elements, whatever the buffers'
// sizes. About 10 GB/s; holds 64 KiB.
Client::Source RandomSource(DType dtype, std::uint64_t seed);

// Bytes of zero: elements of +0.
Client::Source ZerosSource();

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_GENERATED_SOURCE_H_
