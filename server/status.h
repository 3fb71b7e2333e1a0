// The one place where absl::Status turns into grpc::Status.
#ifndef TRELU_SERVER_STATUS_H_
#define TRELU_SERVER_STATUS_H_

#include <absl/status/status.h>
#include <grpcpp/support/status.h>

namespace trelu::server {

// Longer messages are cut: they travel in an HTTP/2 header.
inline constexpr int kMaxStatusMessageBytes = 512;

// The same code; the message as printable ASCII of at most kMaxStatusMessageBytes.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace trelu::server

#endif  // TRELU_SERVER_STATUS_H_
