// The release that this binary is.
#ifndef TRELU_SERVER_VERSION_H_
#define TRELU_SERVER_VERSION_H_

namespace trelu::server {

inline constexpr const char* kVersion = TRELU_VERSION;

}  // namespace trelu::server

#endif  // TRELU_SERVER_VERSION_H_
