#include "client/command/tensor_input.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "client/command/input_file.h"

namespace trelu::command {
namespace {

constexpr std::uint64_t kMaxReorderedBytes = std::uint64_t{4} << 30;

// Elements of `from`, first dimension fastest, into `to`, last dimension fastest.
void Reorder(std::span<const std::int64_t> dims, std::size_t element_bytes, const char* from,
             char* to, std::size_t count) {
  std::vector<std::size_t> stride(dims.size());  // in `from`, in bytes
  std::size_t step = element_bytes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    stride[i] = step;
    step *= static_cast<std::size_t>(dims[i]);
  }
  std::vector<std::int64_t> at(dims.size());
  std::size_t offset = 0;
  for (std::size_t n = 0; n < count; ++n) {
    std::memcpy(to + n * element_bytes, from + offset, element_bytes);
    for (std::size_t i = dims.size(); i-- > 0;) {
      offset += stride[i];
      if (++at[i] < dims[i]) break;
      offset -= stride[i] * static_cast<std::size_t>(dims[i]);
      at[i] = 0;
    }
  }
}

}  // namespace

absl::StatusOr<TensorInput> InRowMajor(TensorInput input) {
  if (!input.fortran_order) return input;
  input.fortran_order = false;
  const std::span<const std::int64_t> dims = input.spec.shape().dims();
  const auto counts =
      std::count_if(dims.begin(), dims.end(), [](std::int64_t dim) { return dim != 1; });
  if (counts <= 1 || input.spec.bytes() == 0) return input;  // both orders are the same
  if (input.spec.bytes() > kMaxReorderedBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("fortran_order = True with ", input.spec.bytes(),
                     " bytes: only an .npy output can keep that order above ", kMaxReorderedBytes));
  }
  std::string given(input.spec.bytes(), '\0');
  if (absl::Status status = input.source(std::as_writable_bytes(std::span(given))); !status.ok()) {
    return status;
  }
  const auto reordered = std::make_shared<std::string>(given.size(), '\0');
  Reorder(dims, ElementBytes(input.spec.dtype()), given.data(), reordered->data(),
          static_cast<std::size_t>(input.spec.shape().element_count()));
  input.source = FromMemory(reordered);
  return input;
}

}  // namespace trelu::command
