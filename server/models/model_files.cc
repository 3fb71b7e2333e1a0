#include "server/models/model_files.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "server/descriptor.h"

namespace trelu::server {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const char* what, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", error.message()));
}

std::error_code LastError() { return {errno, std::generic_category()}; }

bool IsAbsence(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

FileStamp StampOf(const struct stat& status) {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * kNanosecondsPerSecond + status.st_mtim.tv_nsec};
}

// The names of a directory's entries; `error` says what went wrong, as in std::filesystem.
std::vector<std::string> List(const std::string& directory, std::error_code& error) {
  std::vector<std::string> names;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

std::optional<std::int64_t> ParseVersion(const std::string& name) {
  std::int64_t version = 0;
  const bool canonical = absl::SimpleAtoi(name, &version) && absl::StrCat(version) == name;
  return canonical && version > 0 ? std::optional(version) : std::nullopt;
}

absl::Status TooLarge(std::int64_t bytes, std::size_t max_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("file = ", bytes, " bytes: expected at most ", max_bytes));
}

}  // namespace

bool IsModelName(const std::string& name) {
  return std::all_of(name.begin(), name.end(), absl::ascii_isprint);
}

absl::StatusOr<std::vector<std::string>> ListModelNames(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names = List(directory, error);
  if (error) return SystemError("cannot list the directory", error);
  std::erase_if(names, [](const std::string& name) { return name.front() == '.'; });
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<std::vector<ModelFile>> ListModelFiles(const std::string& directory,
                                                      const std::string& name) {
  const std::string model_directory = absl::StrCat(directory, "/", name);
  std::error_code error;
  const std::vector<std::string> entries = List(model_directory, error);
  std::vector<ModelFile> files;
  if (IsAbsence(error)) return files;
  if (error) return SystemError("cannot list the model's directory", error);
  for (const std::string& entry : entries) {
    const std::optional<std::int64_t> version = ParseVersion(entry);
    if (!version) continue;
    ModelFile file{*version, absl::StrCat(model_directory, "/", entry, "/model.onnx"), {}};
    struct stat status {};
    if (stat(file.path.c_str(), &status) == 0) {
      file.stamp = StampOf(status);
    } else if (IsAbsence(LastError())) {
      continue;
    }
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.version < b.version; });
  return files;
}

absl::StatusOr<FileContent> ReadModelFile(const std::string& path, std::size_t max_bytes) {
  // Without O_NONBLOCK the opening of a pipe waits for its other end.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError("cannot open model.onnx", LastError());
  struct stat status {};
  if (fstat(file.get(), &status) != 0) {
    return SystemError("cannot look at model.onnx", LastError());
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError("model.onnx: expected a regular file");
  }
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
    return TooLarge(status.st_size, max_bytes);
  }
  FileContent content{{}, StampOf(status)};
  constexpr std::size_t kBlockBytes = 16384;
  std::array<char, kBlockBytes> block;  // NOLINT: read fills it
  while (true) {
    const ssize_t count = read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("cannot read model.onnx", LastError());
    if (count == 0) return content;
    content.bytes.append(block.data(), static_cast<std::size_t>(count));
    // It may be growing just now.
    if (content.bytes.size() > max_bytes) {
      return TooLarge(static_cast<std::int64_t>(content.bytes.size()), max_bytes);
    }
  }
}

}  // namespace trelu::server
