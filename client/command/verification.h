// Computes here what the server should answer.
#ifndef TRELU_CLIENT_COMMAND_VERIFICATION_H_
#define TRELU_CLIENT_COMMAND_VERIFICATION_H_

#include <absl/status/status.h>

#include <cstddef>
#include <span>
#include <vector>

#include "client/command/checksum.h"
#include "client/command/whole_elements.h"
#include "core/thresholded_relu.h"
#include "trelu/dtype.h"

namespace trelu::command {

// Watches a tensor's bytes on their way out and the result's on their way in, both in pieces of any
// size, and compares the result's checksum with that of its own. A value; one thread.
class Verification {
 public:
  Verification(DType dtype, float alpha);

  void AddInput(std::span<const std::byte> x);
  void AddResult(std::span<const std::byte> y) { got_.Add(y); }

  // DATA_LOSS with both checksums when the result is not what it should be.
  absl::Status Check() const;

 private:
  ThresholdedRelu op_;
  WholeElements whole_;
  std::vector<std::byte> expected_bytes_;
  Crc32c expected_;
  Crc32c got_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_VERIFICATION_H_
