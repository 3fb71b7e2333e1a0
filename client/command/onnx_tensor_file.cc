#include "client/command/onnx_tensor_file.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "onnx/onnx_tensor.pb.h"

namespace trelu::command {
namespace {

using onnx::TensorProto;

// Feeds protobuf's parser, so that a file is never in memory twice.
class ParserInput : public google::protobuf::io::CopyingInputStream {
 public:
  explicit ParserInput(InputFile& file) : file_(file) {}

  int Read(void* buffer, int size) override {
    const absl::StatusOr<std::size_t> count =
        file_.Read({static_cast<std::byte*>(buffer), static_cast<std::size_t>(size)});
    if (!count.ok()) status_ = count.status();
    return count.ok() ? static_cast<int>(*count) : -1;
  }

  const absl::Status& status() const { return status_; }

 private:
  InputFile& file_;
  absl::Status status_;
};

absl::Status Bad(const std::string& what) { return absl::InvalidArgumentError(what); }

// The name of the field where ONNX keeps elements of `dtype` that are not raw.
std::string TypedField(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float_data";
    case DType::kFloat64:
      return "double_data";
    case DType::kFloat16:
    case DType::kBFloat16:
      return "int32_data";
  }
  return "";
}

// The one field with elements, or "" when there is none.
absl::StatusOr<std::string> DataField(const TensorProto& tensor) {
  std::string found = tensor.has_raw_data() && !tensor.raw_data().empty() ? "raw_data" : "";
  const std::array<std::pair<const char*, int>, 6> typed = {
      {{"float_data", tensor.float_data_size()},
       {"double_data", tensor.double_data_size()},
       {"int32_data", tensor.int32_data_size()},
       {"int64_data", tensor.int64_data_size()},
       {"uint64_data", tensor.uint64_data_size()},
       {"string_data", tensor.string_data_size()}}};
  for (const auto& [name, size] : typed) {
    if (size == 0) continue;
    if (!found.empty())
      return Bad(absl::StrCat(found, " and ", name, " both hold data: expected one"));
    found = name;
  }
  return found;
}

template <typename T>
std::string Bytes(const google::protobuf::RepeatedField<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(T)};
}

absl::StatusOr<std::string> BitPatterns(
    const google::protobuf::RepeatedField<std::int32_t>& values) {
  std::string bytes(static_cast<std::size_t>(values.size()) * 2, '\0');
  for (int i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] > std::numeric_limits<std::uint16_t>::max()) {
      return Bad(absl::StrCat("int32_data[", i, "] = ", values[i],
                              ": expected a 16-bit pattern, 0 to 65535"));
    }
    const auto bits = static_cast<std::uint16_t>(values[i]);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * 2, &bits, 2);
  }
  return bytes;
}

absl::StatusOr<std::string> TypedBytes(const TensorProto& tensor, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Bytes(tensor.float_data());
    case DType::kFloat64:
      return Bytes(tensor.double_data());
    case DType::kFloat16:
    case DType::kBFloat16:
      return BitPatterns(tensor.int32_data());
  }
  return std::string();
}

absl::StatusOr<std::string> TakeElements(TensorProto& tensor, const TensorSpec& spec) {
  const absl::StatusOr<std::string> field = DataField(tensor);
  if (!field.ok()) return field.status();
  const std::string typed = TypedField(spec.dtype());
  if (!field->empty() && *field != "raw_data" && *field != typed) {
    return Bad(absl::StrCat("data in ", *field, ": expected raw_data or ", typed, " for ",
                            std::string(Name(spec.dtype()))));
  }
  const std::size_t element_bytes = ElementBytes(spec.dtype());
  std::string elements;
  if (*field == typed) {
    absl::StatusOr<std::string> bytes = TypedBytes(tensor, spec.dtype());
    if (!bytes.ok()) return bytes;
    elements = *std::move(bytes);
  } else {
    elements = std::move(*tensor.mutable_raw_data());
  }
  if (elements.size() != spec.bytes()) {
    const std::string name = field->empty() ? "data" : *field;
    return *field == typed ? Bad(absl::StrCat(name, " = ", elements.size() / element_bytes,
                                              " elements: expected ", spec.shape().element_count(),
                                              " for its dims"))
                           : Bad(absl::StrCat(name, " = ", elements.size(), " bytes: expected ",
                                              spec.bytes(), " for its dims and data_type"));
  }
  return elements;
}

}  // namespace

absl::StatusOr<TensorInput> ReadOnnxTensor(const std::shared_ptr<InputFile>& file,
                                           std::optional<DType> stated) {
  if (file->BytesLeft().value_or(0) > kMaxOnnxFileBytes) {
    return Bad(absl::StrCat("file = ", *file->BytesLeft(), " bytes: expected at most ",
                            kMaxOnnxFileBytes, " of a TensorProto; use .npy or raw bytes"));
  }
  ParserInput parser_input(*file);
  google::protobuf::io::CopyingInputStreamAdaptor stream(&parser_input);
  TensorProto tensor;
  const bool parsed = tensor.ParseFromZeroCopyStream(&stream);
  if (!parser_input.status().ok()) return parser_input.status();
  if (!parsed) return Bad("not an ONNX TensorProto: protobuf cannot parse it");
  if (tensor.data_location() != TensorProto::DEFAULT || tensor.external_data_size() > 0) {
    return Bad(
        "data_location = EXTERNAL: expected the data in the file itself; no other is opened");
  }
  if (tensor.has_segment()) return Bad("segment is set: expected a whole tensor");
  const std::optional<DType> dtype = DTypeFromOnnx(tensor.data_type());
  if (!dtype) {
    return Bad(absl::StrCat("data_type = ", tensor.data_type(),
                            ": expected FLOAT (1), FLOAT16 (10), DOUBLE (11) or BFLOAT16 (16)"));
  }
  if (stated && *stated != *dtype) {
    return Bad(absl::StrCat("data_type = ", std::string(Name(*dtype)), ": expected ",
                            std::string(Name(*stated)), " (--dtype)"));
  }
  absl::StatusOr<TensorSpec> spec = TensorSpec::Create(
      *dtype, {tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())});
  if (!spec.ok()) return spec.status();
  absl::StatusOr<std::string> elements = TakeElements(tensor, *spec);
  if (!elements.ok()) return elements.status();
  return TensorInput{*std::move(spec),
                     FromMemory(std::make_shared<const std::string>(*std::move(elements))), false,
                     tensor.name()};
}

absl::StatusOr<std::string> OnnxTensorFile(const TensorSpec& spec, const std::string& name,
                                           std::string data) {
  TensorProto tensor;
  for (const std::int64_t dim : spec.shape().dims()) tensor.add_dims(dim);
  tensor.set_data_type(static_cast<std::int32_t>(spec.dtype()));
  if (!name.empty()) tensor.set_name(name);
  tensor.set_raw_data(std::move(data));
  std::string file;
  if (!tensor.SerializeToString(&file))
    return absl::InternalError("protobuf cannot write the tensor");
  return file;
}

}  // namespace trelu::command
