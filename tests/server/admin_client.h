// An admin address to ask, and the raw bytes of its answers.
#ifndef TRELU_TESTS_SERVER_ADMIN_CLIENT_H_
#define TRELU_TESTS_SERVER_ADMIN_CLIENT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "server/admin_http.h"

namespace trelu::server {

inline Probes HappyProbes() {
  return {[] { return std::string("some_metric 1\n"); }, [] { return absl::OkStatus(); },
          [] { return absl::OkStatus(); }, [] { return std::string("{\"total\":0}\n"); }};
}

inline std::unique_ptr<AdminHttp> Start(Probes probes = HappyProbes()) {
  absl::StatusOr<std::unique_ptr<AdminHttp>> admin =
      AdminHttp::Start("127.0.0.1:0", std::move(probes));
  EXPECT_TRUE(admin.ok()) << admin.status();
  return *std::move(admin);
}

// A TCP connection to "127.0.0.1:port".
class Connection {
 public:
  explicit Connection(const std::string& address) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&target), sizeof(target)), 0);
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Send(const std::string& request) const {
    EXPECT_EQ(send(socket_, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  // The whole answer, once the server has closed.
  std::string Exchange(const std::string& request) const {
    Send(request);
    std::string answer;
    std::array<char, 4096> block{};
    for (ssize_t size = 0; (size = recv(socket_, block.data(), block.size(), 0)) > 0;) {
      answer.append(block.data(), static_cast<std::size_t>(size));
    }
    return answer;
  }
  // Whether the server has neither sent anything nor closed.
  bool IsOpen() const {
    char byte = 0;
    return recv(socket_, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  int socket_;
};

// `headers`, each with its line's end, beside those that every request has.
inline std::string Ask(const AdminHttp& admin, const std::string& method, const std::string& path,
                       const std::string& headers = "") {
  return Connection(admin.address())
      .Exchange(method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers +
                "\r\n");
}

}  // namespace trelu::server

#endif  // TRELU_TESTS_SERVER_ADMIN_CLIENT_H_
