#include "tests/proto/message_bytes.h"

#include <bit>
#include <vector>

namespace trelu::testing {

grpc::ByteBuffer Cut(std::string_view bytes, std::span<const std::size_t> cuts) {
  std::vector<grpc::Slice> slices;
  std::size_t begin = 0;
  for (std::size_t cut : cuts) {
    slices.emplace_back(bytes.data() + begin, cut - begin);
    begin = cut;
  }
  slices.emplace_back(bytes.data() + begin, bytes.size() - begin);
  return {slices.data(), slices.size()};
}

grpc::ByteBuffer Refer(const std::string& bytes, std::span<const std::size_t> cuts) {
  std::vector<grpc::Slice> slices;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : bytes.size();
    slices.emplace_back(const_cast<char*>(bytes.data()) + begin, end - begin, [](void*) {});
    begin = end;
  }
  return {slices.data(), slices.size()};
}

grpc::ByteBuffer CutEverywhere(std::string_view bytes) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < bytes.size(); ++i) cuts.push_back(i);
  return Cut(bytes, cuts);
}

grpc::ByteBuffer HugeMessage(std::string_view header, std::size_t bytes) {
  const grpc::Slice block(std::size_t{64} << 20);
  std::vector<grpc::Slice> slices = {grpc::Slice(header.data(), header.size())};
  for (std::size_t left = bytes - header.size(); left > 0; left -= slices.back().size()) {
    slices.push_back(left >= block.size() ? block : block.sub(0, left));
  }
  return {slices.data(), slices.size()};
}

std::string Join(std::span<const grpc::Slice> slices) {
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(slice.begin(), slice.end());
  return bytes;
}

std::string Join(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (buffer.Valid() && !buffer.Dump(&slices).ok()) return "(no slices)";
  return Join(slices);
}

std::string Varint(std::uint64_t value, std::size_t min_bytes) {
  std::string bytes;
  for (; value >= 0x80 || bytes.size() + 1 < min_bytes; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Tag(std::uint32_t field, WireType type) { return Varint(field << 3 | type); }

std::string VarintField(std::uint32_t field, std::uint64_t value) {
  return Tag(field, kVarint) + Varint(value);
}

std::string BytesField(std::uint32_t field, std::string_view bytes) {
  return Tag(field, kBytes) + Varint(bytes.size()) + std::string(bytes);
}

std::string Fixed32(float value) {
  std::string bytes;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(bits >> shift));
  return bytes;
}

std::string Fixed64(double value) {
  std::string bytes;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(bits >> shift));
  return bytes;
}

std::string FloatField(std::uint32_t field, float value) {
  return Tag(field, kFixed32) + Fixed32(value);
}

}  // namespace trelu::testing
