#include "proto/payload.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trelu {

Payload::Payload(Payload&& other) noexcept
    : slices_(std::move(other.slices_)), bytes_(std::exchange(other.bytes_, 0)) {
  other.slices_.clear();
}

Payload& Payload::operator=(Payload&& other) noexcept {
  if (this != &other) {
    slices_ = std::move(other.slices_);
    bytes_ = std::exchange(other.bytes_, 0);
    other.slices_.clear();
  }
  return *this;
}

void Payload::Append(grpc::Slice slice) {
  if (slice.size() == 0) return;
  bytes_ += slice.size();
  slices_.push_back(std::move(slice));
}

void Payload::Append(Payload&& rest) {
  if (slices_.empty()) {
    *this = std::move(rest);
    return;
  }
  slices_.insert(slices_.end(), std::make_move_iterator(rest.slices_.begin()),
                 std::make_move_iterator(rest.slices_.end()));
  bytes_ += std::exchange(rest.bytes_, 0);
  rest.slices_.clear();
}

Payload Payload::SplitTail(std::size_t bytes) {
  Payload tail;
  if (bytes == 0) return tail;
  std::size_t first = slices_.size();
  std::size_t taken = 0;
  while (taken < bytes) taken += slices_[--first].size();
  if (taken > bytes) {
    const grpc::Slice whole = std::move(slices_[first]);
    const std::size_t cut = taken - bytes;
    slices_[first] = whole.sub(0, cut);
    tail.Append(whole.sub(cut, whole.size()));
    ++first;
  }
  for (std::size_t i = first; i < slices_.size(); ++i) tail.Append(std::move(slices_[i]));
  slices_.erase(slices_.begin() + static_cast<std::ptrdiff_t>(first), slices_.end());
  bytes_ -= bytes;
  return tail;
}

Segments Payload::MutableSegments() {
  Segments segments;
  for (grpc::Slice& slice : slices_) {
    // Sound although begin() is const: the bytes are either in a heap block, which gRPC or protobuf
    // filled and no const object lives in, or inside `slice` itself, which is not const. gRPC
    // shares a block between messages, but hands each byte range to one message only, and reads a
    // range no more once it has given it away; nobody else looks at these bytes.
    auto* data = reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(slice.begin()));
    segments.Append({data, slice.size()});
  }
  return segments;
}

}  // namespace trelu
