#include "client/command/verification.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace trelu::command {
namespace {

// Small enough to be still in the cache when its checksum is computed.
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

}  // namespace

Verification::Verification(DType dtype, float alpha)
    : op_(dtype, alpha), whole_(ElementBytes(dtype)), expected_bytes_(kBlockBytes) {}

void Verification::AddInput(std::span<const std::byte> x) {
  whole_.Add(x, [this](std::span<const std::byte> elements) {
    while (!elements.empty()) {
      const auto block = elements.first(std::min(elements.size(), kBlockBytes));
      op_.Apply(block, expected_bytes_.data());
      expected_.Add(std::span<const std::byte>(expected_bytes_).first(block.size()));
      elements = elements.subspan(block.size());
    }
  });
}

absl::Status Verification::Check() const {
  if (got_.value() == expected_.value()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the result is wrong: crc32c = ", got_.Hex(), ": expected ", expected_.Hex()));
}

}  // namespace trelu::command
