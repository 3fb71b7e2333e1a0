#include "client/command/output_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace trelu::command {
namespace {

constexpr mode_t kAnyone = 0666;  // less the umask
constexpr mode_t kPermissions = 0777;

}  // namespace

absl::StatusOr<std::shared_ptr<OutputFile>> OutputFile::Create(const std::string& name) {
  // NOLINTNEXTLINE(modernize-make-shared): the constructor is private
  std::shared_ptr<OutputFile> file(new OutputFile());
  struct stat about {};
  const bool exists = name != "-" && stat(name.c_str(), &about) == 0;
  if (name == "-" || (exists && !S_ISREG(about.st_mode))) {
    file->descriptor_ = name == "-" ? dup(STDOUT_FILENO) : open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (file->descriptor_ < 0) return absl::ErrnoToStatus(errno, "cannot be opened");
    return file;
  }
  // A symbolic link stays one: the file that it means is replaced.
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(name, error);
  file->target_ = error ? name : real.string();
  const std::string folder = std::filesystem::path(file->target_).parent_path().string();
  file->descriptor_ =
      open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kAnyone);
  if (file->descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    const std::string temporary = absl::StrCat(file->target_, ".part", getpid());
    file->descriptor_ = open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kAnyone);
    if (file->descriptor_ >= 0) file->temporary_ = temporary;
  }
  if (file->descriptor_ < 0) return absl::ErrnoToStatus(errno, "cannot be created");
  if (exists) static_cast<void>(fchmod(file->descriptor_, about.st_mode & kPermissions));
  return file;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the file
absl::Status OutputFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, "cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (target_.empty()) return absl::OkStatus();
  // Some file systems tell of a full disk only now; and a name must not outlive its bytes.
  if (fsync(descriptor_) != 0) return absl::ErrnoToStatus(errno, "cannot be written");
  if (temporary_.empty()) {
    // An unnamed file cannot take a name that exists, so it gets one of its own first.
    const std::string temporary = absl::StrCat(target_, ".part", getpid());
    const std::string unnamed = absl::StrCat("/proc/self/fd/", descriptor_);
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return absl::ErrnoToStatus(errno, "cannot be named");
    }
    temporary_ = temporary;
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot be put in place");
  }
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace trelu::command
