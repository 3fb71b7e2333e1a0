// Names on the command line to tensors: files, pipes, generators and checksums.
#ifndef TRELU_CLIENT_COMMAND_TENSOR_FILE_H_
#define TRELU_CLIENT_COMMAND_TENSOR_FILE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/command/tensor_input.h"
#include "trelu/client.h"
#include "trelu/dtype.h"

namespace trelu::command {

enum class FileFormat { kNpy, kPb, kRaw };

// What the command line says beside the name.
struct TensorFlags {
  std::optional<DType> dtype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<FileFormat> format;
};

struct OpenedTensor {
  TensorInput tensor;
  // What an output is written as that does not say so itself.
  FileFormat format;
};

// A tensor by its name: "random:SEED" or "zeros:", "-" for standard input, else a file. The format
// is flags.format, or what the extension says (.npy, .pb, .raw or .bin), or .npy when the data
// begins like one, or raw when flags have dtype and shape. A dtype or shape in the flags must agree
// with what a file says of itself. FAILED_PRECONDITION when the flags are too few or wrong; any
// other error is the file's.
absl::StatusOr<OpenedTensor> OpenTensor(const std::string& name, const TensorFlags& flags);

struct TensorOutput {
  // Takes spec.bytes() bytes.
  Client::Sink sink;
  // Call once, when the sink has taken them all. Before it the file does not appear under its name.
  std::function<absl::Status()> commit;
};

// The format that the output `name` is written in: `stated`, or what the extension says, or
// `otherwise`.
FileFormat OutputFormat(const std::string& name, std::optional<FileFormat> stated,
                        FileFormat otherwise);

// Opens the file `name`, or standard output for "-", for a result with the dtype, shape, order and
// name of `input`, whose order is row-major unless the format is .npy. RESOURCE_EXHAUSTED for more
// than a .pb can hold.
absl::StatusOr<TensorOutput> CreateTensor(const std::string& name, FileFormat format,
                                          const TensorInput& input);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_TENSOR_FILE_H_
