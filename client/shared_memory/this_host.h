// Which targets are this host itself, where a server may see the client's shared memory.
#ifndef TRELU_CLIENT_SHARED_MEMORY_THIS_HOST_H_
#define TRELU_CLIENT_SHARED_MEMORY_THIS_HOST_H_

#include <string_view>

namespace trelu {

// By its words alone, no name is looked up: "unix:...", or one address that is "localhost",
// 127.0.0.0/8 or [::1], with or without port and "dns:", "dns:///", "ipv4:" or "ipv6:" in front. A
// port may still be forwarded to another host; the server will then not find the memory.
bool IsThisHost(std::string_view target);

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_THIS_HOST_H_
