// A POSIX shared memory object of the client's own.
#ifndef TRELU_CLIENT_SHARED_MEMORY_MEMORY_OBJECT_H_
#define TRELU_CLIENT_SHARED_MEMORY_MEMORY_OBJECT_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trelu {

// For the user alone (mode 0600). All of its memory is there before its name is: touching it never
// ends in SIGBUS because the file system is full, and a process that dies meanwhile leaves nothing.
class MemoryObject {
 public:
  // A new object of `bytes` bytes, at least 1, whose name begins with `prefix` ("/": nothing; one
  // leading slash does not count) and goes on at random, so that nobody can have it or guess it.
  // INVALID_ARGUMENT: a prefix that no name can have. Otherwise what the operating system says,
  // such as RESOURCE_EXHAUSTED for a file system that is full.
  static absl::StatusOr<std::unique_ptr<MemoryObject>> Create(std::string_view prefix,
                                                              std::size_t bytes);
  // Unmaps, and unlinks if that was not done. Who else has it mapped keeps it.
  ~MemoryObject();
  MemoryObject(const MemoryObject&) = delete;
  MemoryObject& operator=(const MemoryObject&) = delete;

  // As for shm_open, beginning with a slash.
  const std::string& key() const { return key_; }
  std::span<std::byte> bytes() const { return bytes_; }

  // Takes the name away, so that nothing is left when the process dies. Once; one thread.
  void Unlink();

 private:
  // Of the nameless file `fd`, which stays the caller's.
  static absl::StatusOr<std::unique_ptr<MemoryObject>> Fill(int fd, std::string key,
                                                            std::size_t bytes);
  MemoryObject(std::string key, std::span<std::byte> bytes) : key_(std::move(key)), bytes_(bytes) {}

  const std::string key_;
  const std::span<std::byte> bytes_;
  bool linked_ = false;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_MEMORY_OBJECT_H_
