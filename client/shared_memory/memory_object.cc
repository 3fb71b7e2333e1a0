#include "client/shared_memory/memory_object.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace trelu {
namespace {

// Where shm_open(3) looks.
constexpr const char* kDirectory = "/dev/shm";
constexpr std::size_t kRandomBytes = 16;

absl::Status Failure(int error, const char* what) {
  // absl takes a full file system for something that another try may cure.
  if (error == ENOSPC || error == ENOMEM) {
    return absl::ResourceExhaustedError(absl::StrCat("shared memory: ", what, ": no room"));
  }
  return absl::ErrnoToStatus(error, absl::StrCat("shared memory: ", what));
}

absl::StatusOr<std::string> NewKey(std::string_view prefix) {
  if (prefix.starts_with('/')) prefix.remove_prefix(1);
  if (prefix.size() > NAME_MAX - 2 * kRandomBytes || prefix.find('/') != prefix.npos ||
      prefix.find('\0') != prefix.npos) {
    return absl::InvalidArgumentError("shared memory: no name can begin with the server's prefix");
  }
  std::array<char, kRandomBytes> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return Failure(errno, "getrandom");
  }
  return absl::StrCat("/", std::string(prefix),
                      absl::BytesToHexString({random.data(), random.size()}));
}

// 0 or an errno. ftruncate alone would promise memory that may not be there.
int Allocate(int fd, std::size_t bytes) {
  // Beyond the limit the system would end the process, by SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) return EFBIG;
  int error = 0;
  do {
    error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryObject>> MemoryObject::Create(std::string_view prefix,
                                                                   std::size_t bytes) {
  absl::StatusOr<std::string> key = NewKey(prefix);
  if (!key.ok()) return key.status();
  const int fd = open(kDirectory, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return Failure(errno, "open");
  auto object = Fill(fd, *std::move(key), bytes);
  close(fd);
  return object;
}

absl::StatusOr<std::unique_ptr<MemoryObject>> MemoryObject::Fill(int fd, std::string key,
                                                                 std::size_t bytes) {
  if (const int error = Allocate(fd, bytes); error != 0) return Failure(error, "posix_fallocate");
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (mapped == MAP_FAILED) return Failure(errno, "mmap");
  std::unique_ptr<MemoryObject> object(
      new MemoryObject(std::move(key), {static_cast<std::byte*>(mapped), bytes}));
  // The one way to a name that needs no privilege (open(2), O_TMPFILE).
  const std::string nameless = absl::StrCat("/proc/self/fd/", fd);
  const std::string named = absl::StrCat(kDirectory, object->key());
  if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, named.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return Failure(errno, "linkat");
  }
  object->linked_ = true;
  return object;
}

MemoryObject::~MemoryObject() {
  munmap(bytes_.data(), bytes_.size());
  if (linked_) Unlink();
}

void MemoryObject::Unlink() {
  linked_ = false;
  shm_unlink(key_.c_str());
}

}  // namespace trelu
