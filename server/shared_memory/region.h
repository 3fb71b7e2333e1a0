// One range of a POSIX shared memory object, mapped into the server.
#ifndef TRELU_SERVER_SHARED_MEMORY_REGION_H_
#define TRELU_SERVER_SHARED_MEMORY_REGION_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "server/descriptor.h"
#include "server/shared_memory/bus_error_guard.h"

namespace trelu::server {

// The object's name in `key`, which may begin with one slash (shm_overview(7)). INVALID_ARGUMENT:
// empty, longer than NAME_MAX bytes, "." or "..", or with a further slash or a NUL in it. The
// result points into `key`.
absl::StatusOr<std::string_view> ObjectName(std::string_view key);

// Readable and writable by the server and by everyone who has the object open: the bytes may change
// at any time, so whoever decides by a value reads it once. The object may be unlinked meanwhile.
// Constant and free for any thread; the memory it shows is not.
class Region {
 public:
  // Maps the bytes [offset, offset + byte_size) of the object `key`; no alignment is asked for.
  // Touches no page and waits for nobody. All regions of an object keep one descriptor.
  //
  // The server's privileges open nothing that its owner did not give to everyone: the object
  // belongs to the process's effective user, or others may both read and write it.
  //
  // NOT_FOUND, in the same words for all reasons, so that nobody learns of others' objects: no such
  // object, not to be opened, not the server's to use, or not a regular file of a tmpfs (as
  // /dev/shm is). INVALID_ARGUMENT: `key` as above, byte_size 0, or a range that the object does
  // not have. UNAVAILABLE: out of descriptors. RESOURCE_EXHAUSTED: out of address space, or
  // BusErrorGuard::kMaxGuards regions are mapped. No message holds the key.
  static absl::StatusOr<std::unique_ptr<const Region>> Open(std::string_view key,
                                                            std::uint64_t offset,
                                                            std::uint64_t byte_size);

  std::span<std::byte> bytes() const { return bytes_; }
  // Where in the object bytes() begin.
  std::uint64_t offset() const { return offset_; }

  // Whether an access found the object shrunk (or its file system full); from then on bytes() is
  // zeroed memory of the process, unconnected to the object. Ask after the accesses that matter,
  // and between blocks of long work. Shrinking that leaves the last page touched goes unseen: the
  // kernel gives zeros behind the end and drops what is written there.
  bool lost() const { return guard_.lost(); }

  // Whether the object has no name any more and is neither open (but by O_PATH) nor mapped in
  // another process, so that nobody is left to see these bytes. The kernel says it by granting a
  // lease (fcntl(2), F_SETLEASE) for a moment. False where it will not say: an object of another
  // user's.
  bool abandoned() const;

  // Whether both are ranges of the same object.
  bool SharesObjectWith(const Region& other) const { return object_ == other.object_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* pages) const;
  };
  using Pages = std::unique_ptr<std::byte, Unmap>;

  Region(std::shared_ptr<const Descriptor> object, Pages pages, BusErrorGuard guard,
         std::span<std::byte> bytes, std::uint64_t offset);

  const std::shared_ptr<const Descriptor> object_;  // the same for all regions of it
  Pages pages_;
  BusErrorGuard guard_;  // goes before the pages do
  std::span<std::byte> bytes_;
  std::uint64_t offset_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SHARED_MEMORY_REGION_H_
