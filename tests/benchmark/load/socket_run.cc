#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tests/benchmark/load/messages.h"
#include "tests/benchmark/load/payload.h"
#include "tests/benchmark/load/runs.h"

namespace trelu::benchmark {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

// To "127.0.0.1:port" or "unix:path".
int ConnectSocket(const std::string& target) {
  sockaddr_un path{};
  sockaddr_in loopback{};
  const sockaddr* address = nullptr;
  socklen_t length = 0;
  if (target.starts_with("unix:")) {
    path.sun_family = AF_UNIX;
    target.copy(path.sun_path, sizeof path.sun_path - 1, 5);
    address = reinterpret_cast<const sockaddr*>(&path);
    length = sizeof path;
  } else {
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    loopback.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(target.substr(target.rfind(':') + 1))));
    address = reinterpret_cast<const sockaddr*>(&loopback);
    length = sizeof loopback;
  }
  const int connection = socket(address->sa_family, SOCK_STREAM, 0);
  if (connection < 0 || connect(connection, address, length) != 0) Fail("cannot connect");
  const int on = 1;
  // Fails on Unix sockets, which have no such delay.
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(connection, F_SETFL, O_NONBLOCK);
  return connection;
}

// Several messages in a row, so that small ones need no system call each.
std::string Repeat(std::size_t message_bytes, int at_most) {
  const std::size_t times =
      std::clamp<std::size_t>(kReadBytes / message_bytes, 1, static_cast<std::size_t>(at_most));
  std::string text(message_bytes, '\0');
  for (std::size_t i = 0; i < message_bytes; ++i) text[i] = static_cast<char>(i * 131 >> 3);
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// One connection that keeps `in_flight` messages on their way.
class Connection {
 public:
  Connection(const LoadOptions& options, int in_flight, Window& window)
      : options_(options),
        window_(window),
        socket_(ConnectSocket(options.target)),
        messages_(Repeat(options.bytes, in_flight)),
        buffer_(kReadBytes) {
    for (int i = 0; i < in_flight; ++i) Grant();
    Write();
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  pollfd Wanted() const {
    return {socket_, static_cast<short>(POLLIN | (to_write_ > 0 ? POLLOUT : 0)), 0};
  }

  void Serve() {
    Read();
    Write();
  }

 private:
  void Grant() {
    sent_.push_back(Clock::now());
    to_write_ += options_.bytes;
  }

  void Write() {
    while (to_write_ > 0) {
      const std::size_t at = written_ % messages_.size();
      const ssize_t now =
          write(socket_, messages_.data() + at, std::min(messages_.size() - at, to_write_));
      if (now < 0 && errno == EAGAIN) return;
      if (now <= 0) Fail("the connection broke");
      written_ += static_cast<std::size_t>(now);
      to_write_ -= static_cast<std::size_t>(now);
    }
  }

  void Read() {
    const ssize_t now = read(socket_, buffer_.data(), buffer_.size());
    if (now < 0 && errno == EAGAIN) return;
    if (now <= 0) Fail("the connection broke");
    if (options_.verify) Verify(static_cast<std::size_t>(now));
    const std::size_t whole = read_ / options_.bytes;
    read_ += static_cast<std::size_t>(now);
    for (std::size_t i = read_ / options_.bytes - whole; i > 0; --i) {
      window_.Answered(sent_.front());
      sent_.pop_front();
      Grant();
    }
  }

  void Verify(std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t at = (read_ + done) % messages_.size();
      const std::size_t now = std::min(messages_.size() - at, bytes - done);
      if (std::memcmp(&buffer_[done], &messages_[at], now) != 0) Fail("a wrong answer");
      done += now;
    }
  }

  const LoadOptions& options_;
  Window& window_;
  const int socket_;
  const std::string messages_;
  std::vector<char> buffer_;
  std::deque<Clock::time_point> sent_;
  std::size_t to_write_ = 0;
  std::size_t written_ = 0;
  std::size_t read_ = 0;
};

}  // namespace

void RunSockets(const LoadOptions& options, Window& window) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < options.connections; ++i) {
    connections.push_back(
        std::make_unique<Connection>(options, options.in_flight / options.connections, window));
  }
  std::vector<pollfd> wanted(connections.size());
  while (!window.over()) {
    for (std::size_t i = 0; i < connections.size(); ++i) wanted[i] = connections[i]->Wanted();
    poll(wanted.data(), wanted.size(), -1);
    for (std::size_t i = 0; i < connections.size(); ++i) {
      if (wanted[i].revents != 0) connections[i]->Serve();
    }
  }
}

}  // namespace trelu::benchmark
