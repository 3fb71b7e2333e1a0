#include "client/command/tensor_file.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "client/command/generated_source.h"
#include "client/command/input_file.h"
#include "client/command/npy.h"
#include "client/command/onnx_tensor_file.h"
#include "client/command/output_file.h"
#include "client/command/show.h"

namespace trelu::command {
namespace {

constexpr std::string_view kRandom = "random:";
constexpr std::string_view kZeros = "zeros:";

absl::Status FlagsError(const std::string& what) { return absl::FailedPreconditionError(what); }

std::optional<FileFormat> FormatOfExtension(std::string_view name) {
  if (name.ends_with(".npy")) return FileFormat::kNpy;
  if (name.ends_with(".pb")) return FileFormat::kPb;
  if (name.ends_with(".raw") || name.ends_with(".bin")) return FileFormat::kRaw;
  return std::nullopt;
}

absl::StatusOr<TensorSpec> SpecOfFlags(const TensorFlags& flags) {
  if (!flags.dtype || !flags.shape) return FlagsError("expected --dtype and --shape");
  absl::StatusOr<TensorSpec> spec = TensorSpec::Create(*flags.dtype, *flags.shape);
  if (!spec.ok()) return FlagsError(std::string(spec.status().message()));
  return spec;
}

absl::StatusOr<Client::Source> GeneratedSource(std::string_view name, DType dtype) {
  if (name == kZeros) return ZerosSource();
  std::string_view digits = name.substr(kRandom.size());
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return FlagsError("expected random:SEED with a number of 64 bits, or zeros:");
  }
  return RandomSource(dtype, seed);
}

absl::StatusOr<FileFormat> InputFormat(const std::string& name, const TensorFlags& flags,
                                       InputFile& file) {
  if (flags.format) return *flags.format;
  if (const std::optional<FileFormat> format = FormatOfExtension(name)) return *format;
  const absl::StatusOr<std::span<const std::byte>> head = file.Peek(kNpyMagic.size());
  if (!head.ok()) return head.status();
  const std::string_view begin(reinterpret_cast<const char*>(head->data()), head->size());
  if (begin == kNpyMagic) return FileFormat::kNpy;
  if (flags.dtype && flags.shape) return FileFormat::kRaw;
  return FlagsError(
      "unknown format: expected --format npy, pb or raw (raw with --dtype and --shape)");
}

absl::StatusOr<TensorInput> ReadRaw(std::shared_ptr<InputFile> file, const TensorFlags& flags) {
  absl::StatusOr<TensorSpec> spec = SpecOfFlags(flags);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<Client::Source> source = RestOfFile(std::move(file), spec->bytes());
  if (!source.ok()) return source.status();
  return TensorInput{*std::move(spec), *std::move(source), false, ""};
}

absl::StatusOr<TensorInput> Read(FileFormat format, std::shared_ptr<InputFile> file,
                                 const TensorFlags& flags) {
  switch (format) {
    case FileFormat::kNpy:
      return ReadNpy(std::move(file), flags.dtype);
    case FileFormat::kPb:
      return ReadOnnxTensor(file, flags.dtype);
    case FileFormat::kRaw:
      return ReadRaw(std::move(file), flags);
  }
  return absl::InternalError("no such format");
}

// Elements with what a format writes before them.
absl::StatusOr<TensorOutput> Streamed(const std::shared_ptr<OutputFile>& file,
                                      const std::string& preamble) {
  if (absl::Status status = file->Write(std::as_bytes(std::span(preamble))); !status.ok()) {
    return status;
  }
  return TensorOutput{[file](std::span<const std::byte> bytes) { return file->Write(bytes); },
                      [file] { return file->Commit(); }};
}

// A message can be written only when it is complete.
TensorOutput Collected(const std::shared_ptr<OutputFile>& file, const TensorInput& input) {
  const auto data = std::make_shared<std::string>();
  data->reserve(input.spec.bytes());
  return TensorOutput{[data](std::span<const std::byte> bytes) {
                        data->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                        return absl::OkStatus();
                      },
                      [file, data, spec = input.spec, name = input.name]() -> absl::Status {
                        const absl::StatusOr<std::string> message =
                            OnnxTensorFile(spec, name, std::move(*data));
                        if (!message.ok()) return message.status();
                        absl::Status status = file->Write(std::as_bytes(std::span(*message)));
                        return status.ok() ? file->Commit() : status;
                      }};
}

}  // namespace

absl::StatusOr<OpenedTensor> OpenTensor(const std::string& name, const TensorFlags& flags) {
  if (name == kZeros || name.starts_with(kRandom)) {
    absl::StatusOr<TensorSpec> spec = SpecOfFlags(flags);
    if (!spec.ok()) return spec.status();
    absl::StatusOr<Client::Source> source = GeneratedSource(name, spec->dtype());
    if (!source.ok()) return source.status();
    return OpenedTensor{{*std::move(spec), *std::move(source), false, ""}, FileFormat::kNpy};
  }
  const absl::StatusOr<std::shared_ptr<InputFile>> file = InputFile::Open(name);
  if (!file.ok()) return file.status();
  const absl::StatusOr<FileFormat> format = InputFormat(name, flags, **file);
  if (!format.ok()) return format.status();
  absl::StatusOr<TensorInput> input = Read(*format, *file, flags);
  if (!input.ok()) return input.status();
  const std::span<const std::int64_t> dims = input->spec.shape().dims();
  if (flags.shape &&
      !std::equal(dims.begin(), dims.end(), flags.shape->begin(), flags.shape->end())) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor = ", SpecText(input->spec), ": expected the shape of --shape"));
  }
  return OpenedTensor{*std::move(input), *format};
}

FileFormat OutputFormat(const std::string& name, std::optional<FileFormat> stated,
                        FileFormat otherwise) {
  return stated.value_or(FormatOfExtension(name).value_or(otherwise));
}

absl::StatusOr<TensorOutput> CreateTensor(const std::string& name, FileFormat format,
                                          const TensorInput& input) {
  if (format == FileFormat::kPb && input.spec.bytes() > kMaxOnnxTensorBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("result = ", input.spec.bytes(), " bytes: expected at most ",
                     kMaxOnnxTensorBytes, " for a TensorProto; use .npy or raw bytes"));
  }
  const absl::StatusOr<std::shared_ptr<OutputFile>> file = OutputFile::Create(name);
  if (!file.ok()) return file.status();
  switch (format) {
    case FileFormat::kNpy:
      return Streamed(*file, NpyPreamble(input.spec, input.fortran_order));
    case FileFormat::kPb:
      return Collected(*file, input);
    case FileFormat::kRaw:
      return Streamed(*file, "");
  }
  return absl::InternalError("no such format");
}

}  // namespace trelu::command
