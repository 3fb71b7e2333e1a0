#include "client/shared_memory/this_host.h"

#include <absl/strings/match.h>
#include <arpa/inet.h>

#include <array>
#include <string>

namespace trelu {

bool IsThisHost(std::string_view target) {
  if (target.starts_with("unix:") || target.starts_with("unix-abstract:")) return true;
  // Calls to a name of "dns:" are spread over all its addresses, which may be several servers; one
  // of them has the memory.
  bool may_be_a_name = true;
  // The longer first.
  for (const std::string_view scheme : {"dns:///", "dns:", "ipv4:", "ipv6:"}) {
    if (target.starts_with(scheme)) {
      target.remove_prefix(scheme.size());
      may_be_a_name = false;
      break;
    }
  }
  // As several addresses.
  if (target.find(',') != target.npos) return false;
  if (target == "[::1]" || target.starts_with("[::1]:")) return true;
  const std::string host(target.substr(0, target.find(':')));
  if (may_be_a_name && absl::EqualsIgnoreCase(host, "localhost")) return true;
  std::array<unsigned char, 4> address{};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 && address[0] == 127;
}

}  // namespace trelu
