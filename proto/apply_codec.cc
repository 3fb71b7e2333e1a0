#include "proto/apply_codec.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "apply_fallback.pb.h"
#include "proto/apply_header.h"
#include "proto/message_slices.h"
#include "proto/slice_stream.h"

namespace trelu {
namespace {

// The longest header that the fast path reads: more than 64 sizes of ten bytes each take.
constexpr std::size_t kMaxHeaderBytes = 1024;
// The most bytes of `tensor` and unknown fields together. A shape may take 24 times its bytes.
constexpr std::size_t kMaxRestBytes = std::size_t{2} << 20;
using Slices = absl::InlinedVector<grpc::Slice, 2>;

std::span<const std::uint8_t> Prefix(const grpc::Slice& slice) {
  return {slice.begin(), std::min(slice.size(), kMaxHeaderBytes)};
}

// Copies the first bytes of `slices` into `buffer`.
std::span<const std::uint8_t> Gather(const Slices& slices,
                                     std::array<std::uint8_t, kMaxHeaderBytes>& buffer) {
  std::size_t size = 0;
  for (const grpc::Slice& slice : slices) {
    const std::size_t part = std::min(slice.size(), buffer.size() - size);
    std::memcpy(buffer.data() + size, slice.begin(), part);
    size += part;
    if (size == buffer.size()) break;
  }
  return {buffer.data(), size};
}

// The bytes of `slices` from `begin` on.
Payload Tail(Slices slices, std::size_t begin) {
  Payload payload;
  for (grpc::Slice& slice : slices) {
    if (begin == 0) {
      payload.Append(std::move(slice));
    } else if (begin < slice.size()) {
      payload.Append(slice.sub(begin, slice.size()));
      begin = 0;
    } else {
      begin -= slice.size();
    }
  }
  return payload;
}

grpc::Slice Adopt(std::string* bytes) {
  return {bytes->data(), bytes->size(),
          [](void* string) { delete static_cast<std::string*>(string); }, bytes};
}

template <typename Fallback>
absl::StatusOr<ApplyMessage> ParseByProtobuf(Slices slices, std::size_t bytes,
                                             absl::string_view name) {
  Fallback parsed;
  SliceStream stream({slices.data(), slices.size()});
  // Bounded: otherwise protobuf trusts the length that `data` declares and reserves 50 MB for it.
  if (!parsed.ParseFromBoundedZeroCopyStream(&stream, static_cast<int>(bytes))) {
    return MalformedMessage(name);
  }
  slices.clear();

  ApplyMessage result;
  if (!parsed.data().empty()) result.data.Append(Adopt(parsed.release_data()));
  if constexpr (requires { parsed.has_alpha(); }) {
    if (parsed.has_alpha()) result.alpha = parsed.alpha();
    parsed.clear_alpha();
  }
  if (const std::size_t rest_bytes = parsed.ByteSizeLong(); rest_bytes > kMaxRestBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " with ", rest_bytes, " bytes beside its data: at most ", kMaxRestBytes));
  }
  fallback::Rest rest;
  if (!rest.ParseFromString(parsed.SerializeAsString())) return MalformedMessage(name);
  if (rest.has_tensor()) {
    const auto& shape = rest.tensor().shape();
    result.tensor.emplace().dtype = rest.tensor().dtype();
    result.tensor->shape.assign(shape.begin(), shape.end());
  }
  return result;
}

template <typename Fallback>
absl::StatusOr<ApplyMessage> Decode(grpc::ByteBuffer& received, absl::string_view name,
                                    bool has_alpha) {
  MessageSlices message;
  if (absl::Status status = TakeSlices(received, name, message); !status.ok()) return status;
  Slices& slices = message.slices;
  const std::size_t bytes = message.bytes;
  if (bytes == 0) return ApplyMessage();
  std::optional<ApplyHeader> header = ParseUsualHeader(Prefix(slices[0]), bytes, has_alpha);
  if (!header && slices.size() > 1 && slices[0].size() < kMaxHeaderBytes) {
    std::array<std::uint8_t, kMaxHeaderBytes> buffer;
    header = ParseUsualHeader(Gather(slices, buffer), bytes, has_alpha);
  }
  if (!header) return ParseByProtobuf<Fallback>(std::move(slices), bytes, name);
  return ApplyMessage{.tensor = std::move(header->tensor),
                      .alpha = header->alpha,
                      .data = Tail(std::move(slices), header->bytes)};
}

grpc::ByteBuffer Encode(const TensorSpec* tensor, std::optional<float> alpha, const Payload& data) {
  std::array<std::uint8_t, kMaxWrittenHeaderBytes> header;
  const std::size_t header_bytes = WriteHeader(tensor, alpha, data.bytes(), header);
  MessageBuilder message(header_bytes, data.bytes());
  std::copy_n(header.data(), header_bytes, message.Extend(header_bytes));
  message.Append(data);
  return message.Build();
}

}  // namespace

absl::StatusOr<ApplyMessage> DecodeApplyRequest(grpc::ByteBuffer& message) {
  return Decode<fallback::Request>(message, "ApplyRequest", /*has_alpha=*/true);
}

absl::StatusOr<ApplyMessage> DecodeApplyResponse(grpc::ByteBuffer& message) {
  return Decode<fallback::Response>(message, "ApplyResponse", /*has_alpha=*/false);
}

grpc::ByteBuffer EncodeApplyRequest(const TensorSpec* tensor, std::optional<float> alpha,
                                    Payload data) {
  return Encode(tensor, alpha, data);
}

grpc::ByteBuffer EncodeApplyResponse(const TensorSpec* tensor, Payload data) {
  return Encode(tensor, std::nullopt, data);
}

}  // namespace trelu
