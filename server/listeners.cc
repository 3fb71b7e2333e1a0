#include "server/listeners.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/address.h"

namespace trelu::server {
namespace {

// Whether a server accepts connections at `path`.
bool Answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  // A full backlog answers too: somebody owns it.
  const bool answers = result == 0 || errno == EAGAIN;
  close(fd);
  return answers;
}

absl::Status CheckUnixPath(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return absl::OkStatus();
  if (!S_ISSOCK(status.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--listen unix:", path, ": exists and is not a socket"));
  }
  if (Answers(path)) {
    return absl::FailedPreconditionError(absl::StrCat("--listen unix:", path, ": address in use"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Listeners::AddTo(grpc::ServerBuilder& builder,
                              const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  // gRPC keeps pointers into this until it has started.
  ports_.assign(addresses_.size(), 0);
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const auto address = ParseAddress(addresses_[i]);
    if (!address.ok()) return address.status();
    if (address->is_unix()) {
      if (absl::Status free = CheckUnixPath(address->unix_path); !free.ok()) return free;
    }
    builder.AddListeningPort(address->ToString(), credentials, &ports_[i]);
  }
  return absl::OkStatus();
}

absl::Status Listeners::WhyNotStarted() const {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (ports_[i] <= 0) {
      return absl::UnavailableError(absl::StrCat(
          "--listen ", addresses_[i], ": cannot listen (in use, not allowed, or no such host)"));
    }
  }
  return absl::InternalError("the gRPC server did not start");
}

std::vector<std::string> Listeners::Bound() const {
  std::vector<std::string> bound;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    auto address = ParseAddress(addresses_[i]);
    if (!address->is_unix()) address->port = static_cast<std::uint16_t>(ports_[i]);
    bound.push_back(address->ToString());
  }
  return bound;
}

}  // namespace trelu::server
