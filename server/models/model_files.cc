#include "server/models/model_files.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

namespace trelu::server {
namespace {

constexpr const char* kFileName = "model.onnx";
constexpr std::chrono::seconds kRest{1};

absl::Status SystemError(const char* what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::generic_category().message(error)));
}

bool IsAbsence(int error) { return error == ENOENT || error == ENOTDIR; }

std::string PathOf(const ModelFile& file) { return absl::StrCat(file.version, "/", kFileName); }

FileStamp StampOf(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified = std::chrono::sys_time<std::chrono::nanoseconds>(
              std::chrono::seconds(status.st_mtim.tv_sec) +
              std::chrono::nanoseconds(status.st_mtim.tv_nsec))};
}

Descriptor OpenDirectory(int above, const char* name) {
  return Descriptor(openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// The names of a directory's entries, ascending; not those that lead to itself and upwards.
absl::StatusOr<std::vector<std::string>> List(const Descriptor& directory, const char* what) {
  // A stream owns its descriptor, and moves its position.
  const int own = openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return SystemError(what, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(own), closedir);
  if (!stream) {
    close(own);
    return absl::ResourceExhaustedError(what);
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(stream.get());  // NOLINT(concurrency-mt-unsafe): own stream
    if (entry == nullptr && errno != 0) return SystemError(what, errno);
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Whether `name` leads to `directory`, or to no directory if it is none.
bool Means(int above, const std::string& name, const Descriptor& directory) {
  struct stat now {};
  if (fstatat(above, name.c_str(), &now, 0) != 0) return directory.get() < 0 && IsAbsence(errno);
  if (directory.get() < 0) return !S_ISDIR(now.st_mode);
  struct stat then {};
  return fstat(directory.get(), &then) == 0 && now.st_dev == then.st_dev &&
         now.st_ino == then.st_ino;
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

bool FileStamp::rests() const {
  const auto age = std::chrono::system_clock::now() - modified;
  return age >= kRest || age < -kRest;
}

bool IsModelName(const std::string& name) {
  return std::all_of(name.begin(), name.end(), absl::ascii_isprint);
}

absl::StatusOr<ModelTree> ModelTree::Open(const std::string& directory) {
  constexpr const char* kWhat = "cannot list the directory";
  Descriptor opened = OpenDirectory(AT_FDCWD, directory.c_str());
  if (opened.get() < 0) return SystemError(kWhat, errno);
  auto names = List(opened, kWhat);
  if (!names.ok()) return names.status();
  std::erase_if(*names, [](const std::string& name) { return name.front() == '.'; });
  return ModelTree(directory, std::move(opened), *std::move(names));
}

bool ModelTree::Has(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

absl::StatusOr<ModelFolder> ModelTree::Folder(const std::string& name) const {
  constexpr const char* kWhat = "cannot list the model's directory";
  Descriptor directory = OpenDirectory(directory_.get(), name.c_str());
  if (directory.get() < 0) {
    if (IsAbsence(errno)) return ModelFolder(name, std::move(directory), {});
    return SystemError(kWhat, errno);
  }
  const auto entries = List(directory, kWhat);
  if (!entries.ok()) return entries.status();
  std::vector<ModelFile> files;
  for (const std::string& entry : *entries) {
    const std::optional<std::int64_t> version = ParseVersion(entry);
    if (!version) continue;
    ModelFile file{*version, {}};
    struct stat status {};
    if (fstatat(directory.get(), PathOf(file).c_str(), &status, 0) == 0) {
      file.stamp = StampOf(status);
    } else if (IsAbsence(errno)) {
      continue;
    }
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.version < b.version; });
  return ModelFolder(name, std::move(directory), std::move(files));
}

bool ModelTree::IsCurrent() const { return Means(AT_FDCWD, path_, directory_); }

bool ModelTree::IsCurrent(const ModelFolder& folder) const {
  return IsCurrent() && Means(directory_.get(), folder.name_, folder.directory_);
}

bool ModelFolder::Has(std::int64_t version) const {
  return std::any_of(files_.begin(), files_.end(),
                     [version](const ModelFile& file) { return file.version == version; });
}

absl::StatusOr<FileContent> ModelFolder::Read(const ModelFile& file, std::size_t max_bytes) const {
  // Without O_NONBLOCK the opening of a pipe waits for its other end.
  const Descriptor opened(
      openat(directory_.get(), PathOf(file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (opened.get() < 0 && IsAbsence(errno)) return absl::NotFoundError("model.onnx: is gone");
  if (opened.get() < 0) return SystemError("cannot open model.onnx", errno);
  struct stat before {};
  if (fstat(opened.get(), &before) != 0) return SystemError("cannot look at model.onnx", errno);
  if (!S_ISREG(before.st_mode)) {
    return absl::InvalidArgumentError("model.onnx: expected a regular file");
  }
  if (static_cast<std::uint64_t>(before.st_size) > max_bytes) {
    return TooLarge(before.st_size, max_bytes);
  }
  FileContent content{{}, StampOf(before)};
  constexpr std::size_t kBlockBytes = 16384;
  std::array<char, kBlockBytes> block;  // NOLINT: read fills it
  while (true) {
    const ssize_t count = read(opened.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("cannot read model.onnx", errno);
    if (count == 0) break;
    content.bytes.append(block.data(), static_cast<std::size_t>(count));
    // It may be growing just now.
    if (content.bytes.size() > max_bytes) {
      return TooLarge(static_cast<std::int64_t>(content.bytes.size()), max_bytes);
    }
  }
  struct stat after {};
  if (fstat(opened.get(), &after) != 0) return SystemError("cannot look at model.onnx", errno);
  if (StampOf(after) != content.stamp) {
    return absl::UnavailableError("model.onnx: was written to while it was read");
  }
  if (content.bytes.empty()) return absl::InvalidArgumentError("model.onnx: is empty");
  return content;
}

}  // namespace trelu::server
