// Files that tests write and read back.
#ifndef TRELU_TESTS_COMMAND_FILES_H_
#define TRELU_TESTS_COMMAND_FILES_H_

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "client/command/input_file.h"
#include "client/command/tensor_input.h"

namespace trelu::command {

// A folder of its own that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "/trelu-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // The path of a new file with these bytes.
  std::string Write(const std::string& name, std::string_view bytes) const {
    std::ofstream(Path(name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
    return Path(name);
  }

  std::size_t FileCount() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::string path_;
};

// A file in memory with these bytes.
inline std::shared_ptr<InputFile> OpenBytes(std::string_view bytes) {
  const int descriptor = memfd_create("bytes", MFD_CLOEXEC);
  EXPECT_EQ(write(descriptor, bytes.data(), bytes.size()), std::ssize(bytes));
  std::shared_ptr<InputFile> file = *InputFile::Open("/proc/self/fd/" + std::to_string(descriptor));
  close(descriptor);
  return file;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// All that `source` gives of `bytes` bytes, `step` at a time.
inline absl::StatusOr<std::string> ReadAll(const Client::Source& source, std::size_t bytes,
                                           std::size_t step) {
  std::string data(bytes, '\0');
  for (std::size_t at = 0; at < bytes; at += step) {
    const std::span part = std::span(data).subspan(at, std::min(step, bytes - at));
    if (absl::Status status = source(std::as_writable_bytes(part)); !status.ok()) return status;
  }
  return data;
}

// Bytes written as two hexadecimal digits each; spaces are skipped.
inline std::string Hex(std::string_view digits) {
  std::string bytes;
  int high = -1;
  for (const char c : digits) {
    if (c == ' ') continue;
    const int value = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high < 0) {
      high = value;
    } else {
      bytes += static_cast<char>(high * 16 + value);
      high = -1;
    }
  }
  return bytes;
}

}  // namespace trelu::command

#endif  // TRELU_TESTS_COMMAND_FILES_H_
