#include "server/shared_memory/region.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace trelu::server {
namespace {

absl::Status NoSuchObject() {
  return absl::NotFoundError(
      "key: no shared memory object of this name that the server may use; it must exist in the "
      "server's IPC namespace and belong to the server's user or be readable and writable by all");
}

bool MayUse(const Descriptor& object, const struct stat& status) {
  struct statfs file_system {};
  if (!S_ISREG(status.st_mode) || fstatfs(object.get(), &file_system) != 0 ||
      file_system.f_type != TMPFS_MAGIC) {
    return false;
  }
  constexpr mode_t kForAll = S_IROTH | S_IWOTH;
  return status.st_uid == geteuid() || (status.st_mode & kForAll) == kForAll;
}

// The object's descriptor that all its regions are mapped from: a lease is refused to who has it
// open more than once. `opened` unless there is one.
std::shared_ptr<const Descriptor> OneOf(Descriptor opened, const struct stat& status) {
  static std::mutex mutex;
  static std::map<std::pair<dev_t, ino_t>, std::weak_ptr<const Descriptor>> known;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const Descriptor>& one = known[{status.st_dev, status.st_ino}];
  std::shared_ptr<const Descriptor> descriptor = one.lock();
  if (!descriptor) one = descriptor = std::make_shared<const Descriptor>(std::move(opened));
  return descriptor;
}

}  // namespace

absl::StatusOr<std::string_view> ObjectName(std::string_view key) {
  if (key.starts_with('/')) key.remove_prefix(1);
  if (key.empty()) return absl::InvalidArgumentError("key: empty");
  if (key.size() > NAME_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("key: got ", key.size(), " bytes, expected at most ", NAME_MAX));
  }
  if (key == "." || key == ".." || key.find('/') != key.npos || key.find('\0') != key.npos) {
    return absl::InvalidArgumentError(
        "key: expected the name of a shared memory object: not . or .., without NUL, and without a "
        "slash after the first byte");
  }
  return key;
}

absl::StatusOr<std::unique_ptr<const Region>> Region::Open(std::string_view key,
                                                           std::uint64_t offset,
                                                           std::uint64_t byte_size) {
  const auto name = ObjectName(key);
  if (!name.ok()) return name.status();
  if (byte_size == 0) {
    return absl::InvalidArgumentError("byte_size: got 0, expected at least 1");
  }

  // Symbolic links are refused by shm_open itself. Without O_NONBLOCK, whoever holds a lease on the
  // object would make the server wait for it, 45 seconds by default.
  Descriptor opened(
      shm_open(absl::StrCat("/", std::string(*name)).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK, 0));
  if (opened.get() < 0 && (errno == EMFILE || errno == ENFILE)) {
    return absl::UnavailableError("shared memory: the server is out of file descriptors");
  }
  struct stat status {};
  if (opened.get() < 0 || fstat(opened.get(), &status) != 0 || !MayUse(opened, status)) {
    return NoSuchObject();
  }
  const auto object_bytes = static_cast<std::uint64_t>(status.st_size);
  if (offset > object_bytes || byte_size > object_bytes - offset) {
    return absl::InvalidArgumentError(absl::StrCat("offset and byte_size: got ", offset, " and ",
                                                   byte_size, ", the object has ", object_bytes,
                                                   " bytes"));
  }

  std::shared_ptr<const Descriptor> object = OneOf(std::move(opened), status);
  const std::uint64_t in_page = offset % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::size_t mapped_bytes = in_page + byte_size;
  void* const mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            object->get(), static_cast<off_t>(offset - in_page));
  if (mapped == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("byte_size: the server has no room to map ", byte_size, " bytes"));
  }
  Pages pages(static_cast<std::byte*>(mapped), Unmap{mapped_bytes});
  auto guard = BusErrorGuard::Create({pages.get(), mapped_bytes});
  if (!guard) {
    return absl::ResourceExhaustedError(
        absl::StrCat("shared memory: ", BusErrorGuard::kMaxGuards, " regions are mapped, no more"));
  }
  const std::span bytes(pages.get() + in_page, byte_size);
  return std::unique_ptr<const Region>(
      new Region(std::move(object), std::move(pages), *std::move(guard), bytes, offset));
}

Region::Region(std::shared_ptr<const Descriptor> object, Pages pages, BusErrorGuard guard,
               std::span<std::byte> bytes, std::uint64_t offset)
    : object_(std::move(object)),
      pages_(std::move(pages)),
      guard_(std::move(guard)),
      bytes_(bytes),
      offset_(offset) {}

bool Region::abandoned() const {
  struct stat status {};
  if (fstat(object_->get(), &status) != 0 || status.st_nlink != 0) return false;
  // Who breaks the lease sends us a signal: one that does nothing, in the place of one that ends
  // the process.
  if (fcntl(object_->get(), F_SETSIG, SIGURG) != 0 ||
      fcntl(object_->get(), F_SETLEASE, F_WRLCK) != 0) {
    return false;
  }
  fcntl(object_->get(), F_SETLEASE, F_UNLCK);
  return true;
}

void Region::Unmap::operator()(std::byte* pages) const { munmap(pages, bytes); }

}  // namespace trelu::server
