#include "proto/wire_reader.h"

#include <algorithm>
#include <cstring>

#include "proto/message_slices.h"

namespace trelu {

WireReader::WireReader(std::span<const grpc::Slice> slices) : slices_(slices) {
  if (slices_.empty()) return;
  slice_begin_ = at_ = slices_[0].begin();
  slice_end_ = slices_[0].end();
}

bool WireReader::Tag(std::uint32_t& tag) {
  std::uint64_t value = 0;
  if (!Varint(5, value)) return false;
  tag = static_cast<std::uint32_t>(value);  // protobuf, too, drops the upper bits
  return true;
}

bool WireReader::Length(std::size_t& length) {
  std::uint64_t value = 0;
  if (!Varint(5, value)) return false;
  length = value;
  return length <= kMaxFieldBytes;
}

bool WireReader::SkipVarint() {
  std::uint64_t value = 0;
  return Varint(10, value);
}

void WireReader::Skip(std::size_t bytes) {
  ForEachStretch(bytes, [](const std::uint8_t*, std::size_t) {});
}

void WireReader::CopyBehind(std::string& text, std::size_t bytes) {
  ForEachStretch(bytes, [&text](const std::uint8_t* begin, std::size_t part) {
    text.append(reinterpret_cast<const char*>(begin), part);
  });
}

void WireReader::CopyTo(std::uint8_t* to, std::size_t bytes) {
  ForEachStretch(bytes, [&to](const std::uint8_t* begin, std::size_t part) {
    std::memcpy(to, begin, part);
    to += part;
  });
}

void WireReader::ReferFrom(Payload& payload, std::size_t bytes) {
  ForEachStretch(bytes, [this, &payload](const std::uint8_t* begin, std::size_t part) {
    const auto from = static_cast<std::size_t>(begin - slice_begin_);
    payload.Append(slices_[0].sub(from, from + part));
  });
}

bool WireReader::Varint(int max_bytes, std::uint64_t& value) {
  for (int i = 0; i < max_bytes; ++i) {
    if (at_ == slice_end_ && !NextSlice()) return false;
    const std::uint8_t byte = *at_++;
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireReader::NextSlice() {
  while (slices_.size() > 1) {
    before_ += slices_[0].size();
    slices_ = slices_.subspan(1);
    slice_begin_ = at_ = slices_[0].begin();
    slice_end_ = slices_[0].end();
    if (at_ != slice_end_) return true;
  }
  return false;
}

template <typename Take>
void WireReader::ForEachStretch(std::size_t bytes, Take take) {
  while (bytes > 0) {
    if (at_ == slice_end_ && !NextSlice()) return;
    const std::size_t part = std::min(bytes, static_cast<std::size_t>(slice_end_ - at_));
    take(at_, part);
    at_ += part;
    bytes -= part;
  }
}

}  // namespace trelu
