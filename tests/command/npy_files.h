// .npy files made by hand, for the tests of reading them.
#ifndef TRELU_TESTS_COMMAND_NPY_FILES_H_
#define TRELU_TESTS_COMMAND_NPY_FILES_H_

#include <optional>
#include <string>

#include "client/command/npy.h"
#include "tests/command/files.h"

namespace trelu::command {

// Two float32 elements: 1.5 and 0.5.
inline const std::string kOneAndHalf = Hex("0000c03f 0000003f");

inline std::string File(int major, const std::string& header, const std::string& data) {
  std::string file(kNpyMagic);
  file += static_cast<char>(major);
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  return file + header + data;
}

inline std::string Header(const std::string& descr, const std::string& fortran,
                          const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

inline absl::StatusOr<TensorInput> Read(const std::string& bytes,
                                        std::optional<DType> stated = {}) {
  return ReadNpy(OpenBytes(bytes), stated);
}

}  // namespace trelu::command

#endif  // TRELU_TESTS_COMMAND_NPY_FILES_H_
