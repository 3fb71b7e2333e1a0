// Files with one ONNX TensorProto, such as the test data of ONNX models (.pb).
#ifndef TRELU_CLIENT_COMMAND_ONNX_TENSOR_FILE_H_
#define TRELU_CLIENT_COMMAND_ONNX_TENSOR_FILE_H_

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>

#include "client/command/input_file.h"
#include "client/command/tensor_input.h"

namespace trelu::command {

// Protobuf's limit for one message, and ours for the elements within.
inline constexpr std::uint64_t kMaxOnnxFileBytes = (std::uint64_t{2} << 30) - 1;
inline constexpr std::uint64_t kMaxOnnxTensorBytes = kMaxOnnxFileBytes - (std::uint64_t{64} << 10);

// The tensor in `file`, which is read whole. The elements are in raw_data, or in the typed field
// that ONNX has for their type: float_data, double_data, or int32_data, whose numbers are the bit
// patterns of 16-bit types. INVALID_ARGUMENT, naming the field, for anything else: two such fields,
// one that belongs to another type, more or fewer elements than dims say, a segment of a tensor;
// and for data in another file, which is never opened. A `stated` dtype must be the file's.
absl::StatusOr<TensorInput> ReadOnnxTensor(const std::shared_ptr<InputFile>& file,
                                           std::optional<DType> stated);

// The file of a tensor whose row-major elements are `data`, which is taken: always in raw_data.
// INTERNAL when protobuf cannot write it, above kMaxOnnxTensorBytes.
absl::StatusOr<std::string> OnnxTensorFile(const TensorSpec& spec, const std::string& name,
                                           std::string data);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_ONNX_TENSOR_FILE_H_
