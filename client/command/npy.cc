#include "client/command/npy.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "client/command/python_literal.h"

namespace trelu::command {
namespace {

// NumPy itself writes at most a few kilobytes for 64 dimensions.
constexpr std::uint32_t kMaxHeaderBytes = 65536;
constexpr std::size_t kShownDescr = 40;
// NumPy pads the header so that the elements can be mapped aligned.
constexpr std::size_t kAlignment = 64;

struct ElementType {
  DType dtype;
  bool big_endian;
};

absl::Status Bad(const std::string& field, const std::string& got, const std::string& expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("npy header: ", field, " = ", got, ": expected ", expected));
}

absl::StatusOr<ElementType> ParseDescr(const std::string& descr, std::optional<DType> stated) {
  const std::string shown = absl::StrCat("'", descr.substr(0, kShownDescr), "'");
  if (descr == "V2" || descr == "|V2" || descr == "<V2") {
    if (stated == DType::kBFloat16) return ElementType{DType::kBFloat16, false};
    return Bad("descr", shown,
               stated ? std::string(Name(*stated))
                      : std::string("a type; if the two bytes are bfloat16, say --dtype bfloat16"));
  }
  std::optional<ElementType> type;
  const bool ordered =
      !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const std::string kind = ordered ? descr.substr(1) : descr;
  const bool big_endian = descr.starts_with('>');
  if (kind == "f2") type = {DType::kFloat16, big_endian};
  if (kind == "f4") type = {DType::kFloat32, big_endian};
  if (kind == "f8") type = {DType::kFloat64, big_endian};
  if (descr == "bfloat16") type = {DType::kBFloat16, false};
  if (!type) return Bad("descr", shown, "f2, f4, f8 or bfloat16");
  if (stated && *stated != type->dtype) return Bad("descr", shown, std::string(Name(*stated)));
  return *type;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view text, std::optional<DType> stated) {
  PythonLiterals literals(text);
  if (!literals.Take('{')) return Bad("dictionary", literals.Next(), "{");
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
  while (!literals.Take('}')) {
    const std::optional<std::string> key = literals.TakeString();
    if (!key || !literals.Take(':')) return Bad("dictionary", literals.Next(), "'key': value");
    if (*key == "descr" && !descr) {
      descr = literals.TakeString();
      if (!descr) return Bad("descr", literals.Next(), "one plain type such as '<f4'");
    } else if (*key == "fortran_order" && !fortran_order) {
      fortran_order = literals.TakeBool();
      if (!fortran_order) return Bad("fortran_order", literals.Next(), "True or False");
    } else if (*key == "shape" && !shape) {
      shape = literals.TakeTuple();
      if (!shape) return Bad("shape", literals.Next(), "a tuple of int64 such as (2, 3) or (3,)");
    } else {
      return Bad("key", absl::StrCat("'", key->substr(0, kShownDescr), "'"),
                 "descr, fortran_order and shape, once each");
    }
    if (!literals.Take(',')) {
      if (literals.Take('}')) break;
      return Bad("dictionary", literals.Next(), ", or }");
    }
  }
  if (!literals.AtEnd()) return Bad("dictionary", literals.Next(), "nothing after }");
  if (!descr || !fortran_order || !shape) {
    return Bad("key", "missing", "descr, fortran_order and shape, once each");
  }
  const absl::StatusOr<ElementType> type = ParseDescr(*descr, stated);
  if (!type.ok()) return type.status();
  absl::StatusOr<TensorSpec> spec = TensorSpec::Create(type->dtype, *shape);
  if (!spec.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("npy header: ", spec.status().message()));
  }
  return NpyHeader{*std::move(spec), type->big_endian, *fortran_order};
}

absl::StatusOr<TensorInput> ReadNpy(std::shared_ptr<InputFile> file, std::optional<DType> stated) {
  std::array<std::byte, 12> fixed{};  // magic, two version bytes, header's length
  const std::size_t before_length = kNpyMagic.size() + 2;
  absl::StatusOr<std::size_t> count = file->Read(std::span(fixed).first(before_length));
  if (!count.ok()) return count.status();
  const std::string_view magic(reinterpret_cast<const char*>(fixed.data()), kNpyMagic.size());
  if (*count < before_length || magic != kNpyMagic) {
    return absl::InvalidArgumentError("not an .npy file: it does not begin with \\x93NUMPY");
  }
  const auto major = std::to_integer<unsigned>(fixed[6]);
  const auto minor = std::to_integer<unsigned>(fixed[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return Bad("version", absl::StrCat(major, ".", minor), "1.0, 2.0 or 3.0");
  }
  const std::span length_bytes = std::span(fixed).subspan(before_length, major == 1 ? 2 : 4);
  count = file->Read(length_bytes);
  if (!count.ok()) return count.status();
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < length_bytes.size(); ++i) {
    length |= std::to_integer<std::uint32_t>(length_bytes[i]) << (8 * i);
  }
  if (*count < length_bytes.size()) return Bad("length", "the end", "a number");
  if (length > kMaxHeaderBytes) {
    return Bad("length", absl::StrCat(length), absl::StrCat("at most ", kMaxHeaderBytes));
  }
  std::string text(length, '\0');
  count = file->Read(std::as_writable_bytes(std::span(text)));
  if (!count.ok()) return count.status();
  if (*count < length) {
    return Bad("length", absl::StrCat(length), absl::StrCat("at most the ", *count, " bytes left"));
  }
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(text, stated);
  if (!header.ok()) return header.status();
  absl::StatusOr<Client::Source> source = RestOfFile(std::move(file), header->spec.bytes());
  if (!source.ok()) return source.status();
  if (header->big_endian) {
    source = SwapElements(*std::move(source), ElementBytes(header->spec.dtype()));
  }
  return TensorInput{std::move(header->spec), *std::move(source), header->fortran_order, ""};
}

std::string NpyPreamble(const TensorSpec& spec, bool fortran_order) {
  std::string_view descr;
  switch (spec.dtype()) {
    case DType::kFloat16:
      descr = "<f2";
      break;
    case DType::kBFloat16:
      descr = "|V2";
      break;
    case DType::kFloat32:
      descr = "<f4";
      break;
    case DType::kFloat64:
      descr = "<f8";
      break;
  }
  const std::span<const std::int64_t> dims = spec.shape().dims();
  std::string text = absl::StrCat("{'descr': '", std::string(descr),
                                  "', 'fortran_order': ", fortran_order ? "True" : "False",
                                  ", 'shape': (", absl::StrJoin(dims.begin(), dims.end(), ", "),
                                  dims.size() == 1 ? ",), }" : "), }");
  const std::size_t before_text = kNpyMagic.size() + 4;
  const std::size_t unpadded = before_text + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string preamble(kNpyMagic);
  preamble += '\1';
  preamble += '\0';
  preamble += static_cast<char>(text.size() & 0xff);
  preamble += static_cast<char>(text.size() >> 8);
  return preamble + text;
}

}  // namespace trelu::command
