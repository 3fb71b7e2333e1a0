#include "proto/apply_header.h"

#include <bit>
#include <cstring>

#include "proto/message_slices.h"

namespace trelu {
namespace {

// Field numbers and wire types (trelu/v1/trelu.proto), each in one byte.
enum Tag : std::uint8_t {
  kTensor = 1 << 3 | 2,
  kAlpha = 2 << 3 | 5,
  kData = 15 << 3 | 2,
  kTensorDtype = 1 << 3 | 0,
  kTensorShape = 2 << 3 | 2,  // packed
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(at_ + bytes.size()) {}

  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  bool done() const { return at_ == end_; }

  // Goes past the tag if it is the next byte.
  bool Take(Tag tag) {
    if (done() || *at_ != tag) return false;
    ++at_;
    return true;
  }

  // In the fewest bytes, as encoders write it.
  bool Varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !done(); shift += 7) {
      const std::uint8_t byte = *at_++;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return (byte != 0 || shift == 0) && (shift < 63 || byte == 1);
    }
    return false;
  }

  bool Length(std::uint64_t& length) { return Varint(length) && length <= kMaxFieldBytes; }

  // The next field of known length, if it is here as a whole.
  std::optional<Reader> Nested() {
    std::uint64_t length = 0;
    if (!Length(length) || length > static_cast<std::size_t>(end_ - at_)) return std::nullopt;
    const std::uint8_t* begin = at_;
    at_ += length;
    return Reader({begin, at_});
  }

  bool Float(float& value) {
    if (end_ - at_ < 4) return false;
    const std::uint32_t bits = at_[0] | std::uint32_t{at_[1]} << 8 | std::uint32_t{at_[2]} << 16 |
                               std::uint32_t{at_[3]} << 24;
    value = std::bit_cast<float>(bits);
    at_ += 4;
    return true;
  }

 private:
  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

bool ParseTensor(Reader& message, WireTensor& tensor) {
  std::optional<Reader> fields = message.Nested();
  if (!fields) return false;
  std::uint64_t value = 0;
  if (fields->Take(kTensorDtype)) {
    if (!fields->Varint(value)) return false;
    tensor.dtype = static_cast<std::int32_t>(value);  // protobuf, too, drops the upper half
  }
  if (fields->Take(kTensorShape)) {
    std::optional<Reader> sizes = fields->Nested();
    if (!sizes) return false;
    while (!sizes->done()) {
      if (!sizes->Varint(value)) return false;
      tensor.shape.push_back(static_cast<std::int64_t>(value));
    }
  }
  return fields->done();
}

class Writer {
 public:
  explicit Writer(std::uint8_t* at) : at_(at) {}

  std::uint8_t* at() const { return at_; }
  void Byte(std::uint8_t byte) { *at_++ = byte; }
  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte(static_cast<std::uint8_t>(value | 0x80));
    Byte(static_cast<std::uint8_t>(value));
  }
  void Float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) Byte(static_cast<std::uint8_t>(bits >> shift));
  }

 private:
  std::uint8_t* at_;
};

std::size_t VarintBytes(std::uint64_t value) {
  return static_cast<std::size_t>(std::bit_width(value | 1) + 6) / 7;
}

void WriteTensor(const TensorSpec& tensor, Writer& writer) {
  const auto dtype = static_cast<std::uint32_t>(tensor.dtype());
  std::size_t shape_bytes = 0;
  for (std::int64_t size : tensor.shape().dims()) {
    shape_bytes += VarintBytes(static_cast<std::uint64_t>(size));
  }
  std::size_t bytes = 1 + VarintBytes(dtype);
  if (shape_bytes > 0) bytes += 1 + VarintBytes(shape_bytes) + shape_bytes;

  writer.Byte(kTensor);
  writer.Varint(bytes);
  writer.Byte(kTensorDtype);
  writer.Varint(dtype);
  if (shape_bytes == 0) return;
  writer.Byte(kTensorShape);
  writer.Varint(shape_bytes);
  for (std::int64_t size : tensor.shape().dims()) writer.Varint(static_cast<std::uint64_t>(size));
}

}  // namespace

std::optional<ApplyHeader> ParseUsualHeader(std::span<const std::uint8_t> prefix,
                                            std::size_t message_bytes, bool has_alpha) {
  std::optional<ApplyHeader> result(std::in_place);
  ApplyHeader& header = *result;
  Reader reader(prefix);
  if (reader.Take(kTensor) && !ParseTensor(reader, header.tensor.emplace())) return std::nullopt;
  if (has_alpha && reader.Take(kAlpha) && !reader.Float(header.alpha.emplace())) {
    return std::nullopt;
  }
  std::uint64_t payload_bytes = 0;
  if (reader.Take(kData) && !reader.Length(payload_bytes)) return std::nullopt;
  header.bytes = reader.position();
  if (header.bytes + payload_bytes != message_bytes) return std::nullopt;
  return result;
}

std::size_t WriteHeader(const TensorSpec* tensor, std::optional<float> alpha,
                        std::size_t payload_bytes,
                        std::span<std::uint8_t, kMaxWrittenHeaderBytes> header) {
  Writer writer(header.data());
  if (tensor != nullptr) WriteTensor(*tensor, writer);
  if (alpha) {
    writer.Byte(kAlpha);
    writer.Float(*alpha);
  }
  if (payload_bytes > 0) {
    writer.Byte(kData);
    writer.Varint(payload_bytes);
  }
  return static_cast<std::size_t>(writer.at() - header.data());
}

}  // namespace trelu
