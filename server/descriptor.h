// A file descriptor that closes itself.
#ifndef TRELU_SERVER_DESCRIPTOR_H_
#define TRELU_SERVER_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace trelu::server {

// Owns `fd`; a negative one is what a failed open gave, and stands for none.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_DESCRIPTOR_H_
