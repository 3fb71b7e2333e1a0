#include "server/address.h"

#include <absl/status/status.h>
#include <sys/un.h>

#include <charconv>
#include <system_error>

#include "server/log.h"

namespace trelu::server {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::size_t kMaxQuotedBytes = 128;
constexpr std::size_t kMaxUnixPathBytes = sizeof(sockaddr_un::sun_path) - 1;

absl::Status Refuse(std::string_view text, const std::string& wanted) {
  return absl::InvalidArgumentError("\"" + Printable(text, kMaxQuotedBytes) + "\": " + wanted);
}

}  // namespace

std::string Address::ToString() const {
  if (is_unix()) return std::string(kUnixPrefix) + unix_path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text.substr(0, kUnixPrefix.size()) == kUnixPrefix) {
    address.unix_path = text.substr(kUnixPrefix.size());
    if (address.unix_path.empty() || address.unix_path.front() != '/') {
      return Refuse(text, "a Unix socket wants an absolute path, as in unix:/run/trelu.sock");
    }
    if (address.unix_path.size() > kMaxUnixPathBytes) {
      return Refuse(text, "the path of a Unix socket has at most " +
                              std::to_string(kMaxUnixPathBytes) + " bytes");
    }
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return Refuse(text, "expected host:port, [ipv6]:port or unix:/path");
  }
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool has_colon = host.find(':') != std::string_view::npos;
  if (has_colon != bracketed || host.find_first_of("[] ,/\t") != std::string_view::npos) {
    return Refuse(text, "expected host:port, with an IPv6 host in brackets: [::1]:8001");
  }
  const std::string_view port = text.substr(colon + 1);
  const char* end = port.data() + port.size();
  const auto [rest, error] = std::from_chars(port.data(), end, address.port);
  if (error != std::errc() || rest != end) {
    return Refuse(text, "the port is a number from 0 to 65535");
  }
  address.host = host;
  return address;
}

}  // namespace trelu::server
