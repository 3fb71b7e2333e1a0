#include "proto/infer_split.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "proto/element_pieces.h"
#include "proto/wire_reader.h"

namespace trelu {
namespace {

// Fields that are not left to protobuf.
constexpr std::uint32_t kTensor = WireTag(5, WireType::kBytes);    // inputs, outputs
constexpr std::uint32_t kContents = WireTag(5, WireType::kBytes);  // of a tensor
constexpr std::uint32_t kFp32Packed = WireTag(6, WireType::kBytes);
constexpr std::uint32_t kFp32Element = WireTag(6, WireType::kFixed32);
constexpr std::uint32_t kFp64Packed = WireTag(7, WireType::kBytes);
constexpr std::uint32_t kFp64Element = WireTag(7, WireType::kFixed64);

struct Field {
  std::uint32_t tag = 0;
  std::size_t bytes = 0;  // behind the tag and the length
};

// Each member function returns false when it has refused the message; then status() says why.
class Splitter {
 public:
  Splitter(const MessageSlices& message, const InferType& type, std::string& header,
           InferTensors& tensors)
      : type_(type),
        raw_tag_(WireTag(type.raw_field, WireType::kBytes)),
        message_bytes_(message.bytes),
        reader_({message.slices.data(), message.slices.size()}),
        header_(header),
        tensors_(tensors) {}

  const absl::Status& status() const { return status_; }

  bool Message() {
    return ForEachField(message_bytes_, [this](const Field& field, const WireReader& begin) {
      if (field.tag == raw_tag_) return Raw(field);
      return field.tag == kTensor ? Tensor(field) : Keep(field, begin);
    });
  }

 private:
  bool Raw(const Field& field) {
    if (tensors_.raw.size() == kMaxInferTensors) return RefuseMoreThan(type_.raw);
    reader_.ReferFrom(tensors_.raw.emplace_back(), field.bytes);
    return true;
  }

  bool Tensor(const Field& field) {
    if (tensors_.typed.size() == kMaxInferTensors) return RefuseMoreThan(type_.tensors);
    tensor_end_ = reader_.position() + field.bytes;
    const auto take = [this](const Field& inner, const WireReader& begin) {
      return inner.tag == kContents ? Contents(inner) : Keep(inner, begin);
    };
    if (!Rewrite(field, take)) return false;
    tensors_.typed.push_back({fp32_.Finish(), fp64_.Finish()});
    return true;
  }

  bool Contents(const Field& field) {
    return Rewrite(field, [this](const Field& inner, const WireReader& begin) {
      switch (inner.tag) {
        case kFp32Packed:
        case kFp32Element:
          return Elements(fp32_, inner, 4);
        case kFp64Packed:
        case kFp64Element:
          return Elements(fp64_, inner, 8);
        default:
          return Keep(inner, begin);
      }
    });
  }

  bool Elements(ElementPieces& pieces, const Field& field, std::size_t element_bytes) {
    if (field.bytes % element_bytes != 0) return Malformed();
    if (++element_runs_ > kMaxElementRuns) return RefuseScatteredElements();
    pieces.Take(reader_, field.bytes, tensor_end_ - reader_.position());
    return true;
  }

  // Copies a field, which started at `begin`, into the header as it came.
  bool Keep(const Field& field, const WireReader& begin) {
    const std::size_t bytes = reader_.position() - begin.position() + field.bytes;
    if (bytes > kMaxInferHeaderBytes - header_.size()) return RefuseLongHeader();
    WireReader(begin).CopyBehind(header_, bytes);
    reader_.Skip(field.bytes);
    return true;
  }

  // Copies into the header a field that is itself a message, without what `take` takes out of it.
  template <typename Take>
  bool Rewrite(const Field& field, Take take) {
    // Room for a length, which parsers accept in more bytes than it needs.
    static_assert(kMaxInferHeaderBytes < 1U << 21);
    if (kMaxInferHeaderBytes - header_.size() < 4) return RefuseLongHeader();
    header_.append({static_cast<char>(field.tag), 0, 0, 0});
    const std::size_t begin = header_.size();
    if (!ForEachField(reader_.position() + field.bytes, take)) return false;
    const std::size_t length = header_.size() - begin;
    header_[begin - 3] = static_cast<char>(length | 0x80);
    header_[begin - 2] = static_cast<char>(length >> 7 | 0x80);
    header_[begin - 1] = static_cast<char>(length >> 14);
    return true;
  }

  // Calls take(field, where it began) for each field up to `end`, which goes past its bytes.
  template <typename Take>
  bool ForEachField(std::size_t end, Take take) {
    while (reader_.position() < end) {
      const WireReader begin = reader_;
      Field field;
      if (!ReadHead(end, field)) return status_.ok() ? Malformed() : false;
      if (!take(field, begin)) return false;
    }
    return true;
  }

  // Reads a field up to the bytes whose number is then known and which end by `end`. Field numbers,
  // and whether the right tag ends a group, are left to protobuf. A group goes into the header
  // whole, so there is no need to follow it further than that may be long.
  bool ReadHead(std::size_t end, Field& field) {
    if (!ReadTagAndLength(field)) return false;
    if (WireTypeOf(field.tag) == WireType::kGroup && !SkipGroup(end)) return false;
    return FitsBefore(end, field);
  }

  bool ReadTagAndLength(Field& field) {
    if (!reader_.Tag(field.tag)) return false;
    switch (WireTypeOf(field.tag)) {
      case WireType::kVarint:
        return reader_.SkipVarint();
      case WireType::kFixed64:
        field.bytes = 8;
        return true;
      case WireType::kBytes:
        return reader_.Length(field.bytes);
      case WireType::kGroup:
      case WireType::kEndGroup:
        return true;
      case WireType::kFixed32:
        field.bytes = 4;
        return true;
    }
    return false;
  }

  bool SkipGroup(std::size_t end) {
    const std::size_t longest = reader_.position() + kMaxInferHeaderBytes - header_.size();
    for (std::size_t depth = 1; depth > 0;) {
      if (reader_.position() > longest) return RefuseLongHeader();
      Field field;
      if (!ReadTagAndLength(field) || !FitsBefore(end, field)) return false;
      reader_.Skip(field.bytes);
      if (WireTypeOf(field.tag) == WireType::kGroup) ++depth;
      if (WireTypeOf(field.tag) == WireType::kEndGroup) --depth;
    }
    return true;
  }

  bool FitsBefore(std::size_t end, const Field& field) const {
    return reader_.position() <= end && field.bytes <= end - reader_.position();
  }

  bool Malformed() { return Refuse(MalformedMessage(type_.name)); }
  bool RefuseLongHeader() {
    return Refuse(absl::InvalidArgumentError(absl::StrCat(
        type_.name, " with more than ", kMaxInferHeaderBytes, " bytes besides its tensors")));
  }
  bool RefuseScatteredElements() {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat(type_.tensors, ": contents in more than ", kMaxElementRuns,
                     " runs: send the elements packed, or raw")));
  }
  bool RefuseMoreThan(absl::string_view field) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat(field, ": more than ", kMaxInferTensors, " entries")));
  }
  bool Refuse(absl::Status status) {
    status_ = std::move(status);
    return false;
  }

  const InferType& type_;
  const std::uint32_t raw_tag_;
  const std::size_t message_bytes_;
  WireReader reader_;
  std::string& header_;
  InferTensors& tensors_;
  absl::Status status_;
  // Of the tensor that is being read.
  ElementPieces fp32_;
  ElementPieces fp64_;
  std::size_t tensor_end_ = 0;
  std::size_t element_runs_ = 0;
};

}  // namespace

absl::Status SplitInferMessage(const MessageSlices& message, const InferType& type,
                               std::string& header, InferTensors& tensors) {
  Splitter splitter(message, type, header, tensors);
  splitter.Message();
  return splitter.status();
}

}  // namespace trelu
