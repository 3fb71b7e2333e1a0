#include "proto/message_slices.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace trelu {
namespace {

// Up to this size one allocation and a copy cost less than a second slice.
constexpr std::size_t kMaxSingleSliceBytes = 4096;

// Of a slice that was just made, and is the caller's alone.
std::uint8_t* Bytes(const grpc::Slice& slice) { return const_cast<std::uint8_t*>(slice.begin()); }

}  // namespace

absl::Status TakeSlices(grpc::ByteBuffer& received, absl::string_view name,
                        MessageSlices& message) {
  grpc::ByteBuffer buffer;
  buffer.Swap(&received);
  message.bytes = buffer.Length();
  if (message.bytes == 0) return absl::OkStatus();
  if (message.bytes > kMaxMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " of ", message.bytes, " bytes: a protobuf message has at most ", kMaxMessageBytes));
  }
  grpc::Slice single;
  if (buffer.TrySingleSlice(&single).ok()) {
    message.slices.push_back(std::move(single));
    return absl::OkStatus();
  }
  std::vector<grpc::Slice> several;
  // gRPC cannot read its own buffer.
  if (!buffer.Dump(&several).ok() || several.empty()) return MalformedMessage(name);
  message.slices.assign(std::make_move_iterator(several.begin()),
                        std::make_move_iterator(several.end()));
  return absl::OkStatus();
}

absl::Status MalformedMessage(absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("malformed ", name, ": not a valid protobuf message"));
}

MessageBuilder::MessageBuilder(std::size_t bytes_beside_payload, std::size_t payload_bytes) {
  if (payload_bytes > kMaxSingleSliceBytes) return;
  slices_.emplace_back(bytes_beside_payload + payload_bytes);
  in_one_slice_ = Bytes(slices_[0]);
}

std::uint8_t* MessageBuilder::Extend(std::size_t bytes) {
  if (in_one_slice_ != nullptr) return std::exchange(in_one_slice_, in_one_slice_ + bytes);
  return Bytes(slices_.emplace_back(bytes));
}

void MessageBuilder::Append(const Payload& payload) {
  if (in_one_slice_ == nullptr) {
    slices_.insert(slices_.end(), payload.slices().begin(), payload.slices().end());
    return;
  }
  for (const grpc::Slice& part : payload.slices()) {
    in_one_slice_ = std::copy(part.begin(), part.end(), in_one_slice_);
  }
}

grpc::ByteBuffer MessageBuilder::Build() { return {slices_.data(), slices_.size()}; }

}  // namespace trelu
