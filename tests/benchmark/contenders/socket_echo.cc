// The ceiling below gRPC: what a bare socket gives. A thread for each connection reads what has
// come and writes it back.
//
//   socket_echo UNIX_PATH     listens on a free TCP port of 127.0.0.1 and on UNIX_PATH
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

// As much as gRPC reads at once from a busy connection, or more.
constexpr std::size_t kReadBytes = std::size_t{256} << 10;

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void EchoConnection(int connection) {
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const ssize_t got = read(connection, buffer.data(), buffer.size());
    if (got <= 0) break;
    for (ssize_t written = 0; written < got;) {
      const ssize_t now = write(connection, &buffer[static_cast<std::size_t>(written)],
                                static_cast<std::size_t>(got - written));
      if (now <= 0) {
        close(connection);
        return;
      }
      written += now;
    }
  }
  close(connection);
}

void Accept(int listener) {
  while (true) {
    const int connection = accept(listener, nullptr, nullptr);
    if (connection < 0) return;
    const int on = 1;
    // Fails on Unix sockets, which have no such delay.
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::thread(EchoConnection, connection).detach();
  }
}

int Listen(const sockaddr* address, socklen_t length) {
  const int listener = socket(address->sa_family, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, address, length) != 0 || listen(listener, SOMAXCONN) != 0) {
    Fail("socket_echo: listen");
  }
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  sockaddr_un path{};
  if (argc != 2 || std::strlen(arguments[1]) >= sizeof path.sun_path) {
    std::fprintf(stderr, "usage: socket_echo UNIX_PATH\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int tcp = Listen(reinterpret_cast<sockaddr*>(&loopback), sizeof loopback);
  socklen_t length = sizeof loopback;
  getsockname(tcp, reinterpret_cast<sockaddr*>(&loopback), &length);
  path.sun_family = AF_UNIX;
  std::strcpy(path.sun_path, arguments[1]);
  unlink(arguments[1]);
  const int local = Listen(reinterpret_cast<sockaddr*>(&path), sizeof path);
  std::printf("contender ready listen=127.0.0.1:%d,unix:%s\n", ntohs(loopback.sin_port),
              arguments[1]);
  std::fflush(stdout);
  std::thread(Accept, tcp).detach();
  Accept(local);
  return 0;
}
