#include "tests/support/wire_tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "core/thresholded_relu.h"

namespace trelu::testing {
namespace {

// All but the data.
v1::ApplyRequest Header(const WireTensorCase& tensor) {
  v1::ApplyRequest request;
  request.mutable_tensor()->set_dtype(static_cast<v1::DataType>(tensor.dtype));
  for (const std::int64_t size : tensor.shape) request.mutable_tensor()->add_shape(size);
  if (tensor.alpha) request.set_alpha(*tensor.alpha);
  return request;
}

// Numbers on both sides of which elements lie, whatever their type.
constexpr std::array kAlphas = {0.0F, -0.0F, 1.0F, -1.0F, 0.1F, 1e-40F, 65504.0F, -3e38F};

}  // namespace

std::string Expected(const WireTensorCase& tensor) {
  std::string result(tensor.data.size(), '\0');
  const ThresholdedRelu op(tensor.dtype, tensor.alpha.value_or(1.0F), KernelLevel::kBaseline);
  op.Apply(std::as_bytes(std::span(tensor.data)), reinterpret_cast<std::byte*>(result.data()));
  return result;
}

WireTensorCase RandomTensor(std::mt19937_64& random, std::size_t max_bytes) {
  WireTensorCase tensor;
  tensor.dtype = kAllDTypes[random() % kAllDTypes.size()];
  if (random() % 4 != 0) tensor.alpha = kAlphas[random() % kAlphas.size()];
  const std::size_t element_bytes = ElementBytes(tensor.dtype);
  const std::size_t bits = random() % static_cast<std::size_t>(std::bit_width(max_bytes) + 1);
  const std::size_t bound = std::min(max_bytes, std::size_t{1} << bits);
  const std::size_t count = (random() % (bound + 1)) / element_bytes;
  tensor.shape = {static_cast<std::int64_t>(count)};
  if (count % 2 == 0) tensor.shape = {2, static_cast<std::int64_t>(count / 2), 1};
  tensor.data.resize(count * element_bytes);
  for (std::size_t i = 0; i < tensor.data.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(&tensor.data[i], &word, std::min(sizeof(word), tensor.data.size() - i));
  }
  return tensor;
}

v1::ApplyRequest ToRequest(const WireTensorCase& tensor) {
  v1::ApplyRequest request = Header(tensor);
  request.set_data(tensor.data);
  return request;
}

std::vector<v1::ApplyRequest> ToChunks(const WireTensorCase& tensor, std::size_t chunk_bytes) {
  std::vector<v1::ApplyRequest> chunks = {Header(tensor)};
  for (std::size_t at = 0; at < tensor.data.size(); at += chunk_bytes) {
    if (at != 0) chunks.emplace_back();
    chunks.back().set_data(tensor.data.substr(at, chunk_bytes));
  }
  return chunks;
}

bool WireResult::Is(const WireTensorCase& request, const std::string& expected) const {
  return tensor.dtype() == static_cast<v1::DataType>(request.dtype) &&
         std::equal(tensor.shape().begin(), tensor.shape().end(), request.shape.begin(),
                    request.shape.end()) &&
         data == expected;
}

std::optional<std::vector<WireResult>> JoinResponses(const std::vector<std::string>& responses) {
  std::vector<WireResult> results;
  for (const std::string& bytes : responses) {
    v1::ApplyResponse response;
    if (!response.ParseFromString(bytes)) return std::nullopt;
    if (response.has_tensor()) {
      results.push_back({response.tensor(), response.data()});
    } else if (results.empty()) {
      return std::nullopt;
    } else {
      results.back().data += response.data();
    }
  }
  return results;
}

std::optional<WireResult> ParseResponse(const std::string& response) {
  auto joined = JoinResponses({response});
  if (!joined || joined->size() != 1) return std::nullopt;
  return std::move(joined->front());
}

}  // namespace trelu::testing
