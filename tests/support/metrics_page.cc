#include "tests/support/metrics_page.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace trelu::testing {
namespace {

int Connect(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints,
                  &found) != 0) {
    throw std::runtime_error("no such address: " + address);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> free_it(found, freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    if (fd >= 0) close(fd);
    throw std::runtime_error("cannot connect to " + address);
  }
  return fd;
}

}  // namespace

std::string HttpGet(const std::string& address, const std::string& path) {
  const int fd = Connect(address);
  const std::string request = "GET " + path + " HTTP/1.0\r\nHost: test\r\n\r\n";
  std::string answer;
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
      static_cast<ssize_t>(request.size())) {
    std::array<char, 65536> buffer{};
    for (ssize_t n = 0; (n = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      answer.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  close(fd);
  const std::size_t head_end = answer.find("\r\n\r\n");
  const std::size_t code = answer.find(" 200 ");
  if (head_end == std::string::npos || code == std::string::npos || code > head_end) {
    throw std::runtime_error(path + ": " + answer.substr(0, answer.find('\r')));
  }
  return answer.substr(head_end + 4);
}

MetricsPage::MetricsPage(std::string text) : text_(std::move(text)) {
  std::istringstream lines(text_);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string::npos) continue;
    values_[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
}

double MetricsPage::Value(const std::string& series) const {
  const auto found = values_.find(series);
  return found == values_.end() ? 0 : found->second;
}

}  // namespace trelu::testing
