// A POSIX shared memory object as a client makes one.
#ifndef TRELU_TESTS_SUPPORT_SHARED_OBJECT_H_
#define TRELU_TESTS_SUPPORT_SHARED_OBJECT_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace trelu::testing {

// Named after this process and a number, so that tests may run beside each other. Unlinked in the
// end.
class SharedObject {
 public:
  explicit SharedObject(std::size_t bytes) : SharedObject(NextKey(), bytes) {}
  SharedObject(std::string key, std::size_t bytes)
      : key_(std::move(key)), fd_(shm_open(key_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600)) {
    EXPECT_GE(fd_, 0) << key_ << ": errno " << errno;
    Resize(bytes);
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject() {
    Unlink();
    close(fd_);
  }

  // "/trelu_test_<pid>_<number>": a key that nobody has.
  static std::string NextKey() {
    static std::atomic<int> count = 0;
    return "/trelu_test_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  }

  const std::string& key() const { return key_; }
  int fd() const { return fd_; }

  // Where somebody in this process has mapped it (proc(5), maps), or nothing.
  std::span<std::byte> Mapping() const {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find("/dev/shm" + key_) == std::string::npos) continue;
      char* end = nullptr;
      const auto from = std::strtoull(line.c_str(), &end, 16);
      const auto to = std::strtoull(end + 1, nullptr, 16);
      return {reinterpret_cast<std::byte*>(from), static_cast<std::size_t>(to - from)};
    }
    return {};
  }
  bool IsMapped() const { return !Mapping().empty(); }

  void Unlink() const { shm_unlink(key_.c_str()); }
  void Resize(std::size_t bytes) const {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes)), 0) << "errno " << errno;
  }
  void SetMode(mode_t mode) const { EXPECT_EQ(fchmod(fd_, mode), 0); }

  // By file operations, not by a mapping.
  void Write(std::size_t offset, const void* data, std::size_t bytes) const {
    EXPECT_EQ(pwrite(fd_, data, bytes, static_cast<off_t>(offset)),
              static_cast<std::ptrdiff_t>(bytes));
  }
  template <typename T>
  void Fill(std::size_t count, T value) const {
    Write(0, std::vector<T>(count, value).data(), count * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(std::size_t offset, std::size_t count) const {
    std::vector<T> values(count);
    EXPECT_EQ(pread(fd_, values.data(), count * sizeof(T), static_cast<off_t>(offset)),
              static_cast<std::ptrdiff_t>(count * sizeof(T)));
    return values;
  }

 private:
  const std::string key_;
  const int fd_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_SHARED_OBJECT_H_
