// Tensors as tests send them over the wire and put them together again, by protobuf's own encoder.
#ifndef TRELU_TESTS_SUPPORT_WIRE_TENSOR_H_
#define TRELU_TESTS_SUPPORT_WIRE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "trelu/dtype.h"
#include "trelu/v1/trelu.pb.h"

namespace trelu::testing {

struct WireTensorCase {
  DType dtype;
  std::vector<std::int64_t> shape;
  std::optional<float> alpha;  // nothing: left out
  std::string data;
};

// The right result: by the plainest of the core's kernels, out of place.
std::string Expected(const WireTensorCase& tensor);

// Of any dtype, with any bits as elements: up to `max_bytes` bytes, small ones more often.
WireTensorCase RandomTensor(std::mt19937_64& random, std::size_t max_bytes);

// All in one message.
v1::ApplyRequest ToRequest(const WireTensorCase& tensor);

// The messages of a stream: data in chunks of `chunk_bytes` (at least 1), `tensor` in the first.
std::vector<v1::ApplyRequest> ToChunks(const WireTensorCase& tensor, std::size_t chunk_bytes);

// A result, joined of the responses of one tensor.
struct WireResult {
  v1::TensorSpec tensor;
  std::string data;

  // Same dtype and shape as in the request, and exactly these bytes.
  bool Is(const WireTensorCase& request, const std::string& expected) const;
};

// The results in `responses`, each serialized, in order. Nothing when one is no ApplyResponse or
// the first lacks `tensor`.
std::optional<std::vector<WireResult>> JoinResponses(const std::vector<std::string>& responses);

// Of one serialized response, which must carry `tensor`.
std::optional<WireResult> ParseResponse(const std::string& response);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_WIRE_TENSOR_H_
