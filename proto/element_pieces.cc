#include "proto/element_pieces.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace trelu {
namespace {

// From this size on a piece is referred to: its slices then take little beside it.
constexpr std::size_t kMinReferredBytes = 256;
constexpr std::size_t kMaxBlockBytes = std::size_t{64} << 10;

}  // namespace

void ElementPieces::Take(WireReader& reader, std::size_t bytes, std::size_t most_bytes) {
  if (bytes >= kMinReferredBytes) {
    AppendCopied();
    reader.ReferFrom(payload_, bytes);
    return;
  }
  while (bytes > 0) {
    if (copied_ == block_.size()) {
      AppendCopied();
      block_ = grpc::Slice(std::min(most_bytes, kMaxBlockBytes));
      appended_ = copied_ = 0;
    }
    const std::size_t part = std::min(bytes, block_.size() - copied_);
    reader.CopyTo(const_cast<std::uint8_t*>(block_.begin()) + copied_, part);  // ours alone
    copied_ += part;
    bytes -= part;
    most_bytes -= part;
  }
}

Payload ElementPieces::Finish() {
  AppendCopied();
  return std::exchange(payload_, Payload());
}

void ElementPieces::AppendCopied() {
  if (appended_ == copied_) return;
  payload_.Append(block_.sub(appended_, copied_));
  appended_ = copied_;
}

}  // namespace trelu
