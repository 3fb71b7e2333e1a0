// Where to listen, as written in flags: "host:port", "[v6]:port" or "unix:/path".
#ifndef TRELU_SERVER_ADDRESS_H_
#define TRELU_SERVER_ADDRESS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace trelu::server {

struct Address {
  std::string host;        // without brackets; empty for a Unix socket
  std::uint16_t port = 0;  // 0: the system chooses
  std::string unix_path;   // absolute; empty for TCP

  bool is_unix() const { return !unix_path.empty(); }
  // The written form, which ParseAddress reads back.
  std::string ToString() const;
};

// INVALID_ARGUMENT, quoting the text and naming what was expected. Names are not looked up.
absl::StatusOr<Address> ParseAddress(std::string_view text);

}  // namespace trelu::server

#endif  // TRELU_SERVER_ADDRESS_H_
