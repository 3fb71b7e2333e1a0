// Messages as bytes: cut into slices as a transport might, put back together, and written field by
// field in ways that no encoder would.
#ifndef TRELU_TESTS_PROTO_MESSAGE_BYTES_H_
#define TRELU_TESTS_PROTO_MESSAGE_BYTES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proto/payload.h"

namespace trelu::testing {

// One slice for each stretch between neighbouring `cuts` (ascending offsets, at most bytes.size()).
grpc::ByteBuffer Cut(std::string_view bytes, std::span<const std::size_t> cuts = {});
// Slices of one byte.
grpc::ByteBuffer CutEverywhere(std::string_view bytes);

// The same, but the slices refer to `bytes`, which outlive them, as a transport's do to its read
// buffers.
grpc::ByteBuffer Refer(const std::string& bytes, std::span<const std::size_t> cuts = {});

// `bytes` bytes that begin with `header`, and then one block of memory, many times over: a message
// of 2 GiB and more costs 64 MiB.
grpc::ByteBuffer HugeMessage(std::string_view header, std::size_t bytes);

std::string Join(std::span<const grpc::Slice> slices);
std::string Join(const grpc::ByteBuffer& buffer);

// Wire types (protobuf, Encoding).
enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// `value` in at least `min_bytes` bytes: more than needed are padding that parsers accept.
std::string Varint(std::uint64_t value, std::size_t min_bytes = 1);
std::string Tag(std::uint32_t field, WireType type);
std::string VarintField(std::uint32_t field, std::uint64_t value);
std::string BytesField(std::uint32_t field, std::string_view bytes);
std::string Fixed32(float value);
std::string Fixed64(double value);
std::string FloatField(std::uint32_t field, float value);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_PROTO_MESSAGE_BYTES_H_
