// gRPC's status as the library's callers see it.
#ifndef TRELU_CLIENT_STATUS_H_
#define TRELU_CLIENT_STATUS_H_

#include <absl/status/status.h>
#include <grpcpp/support/status.h>

namespace trelu {

// The same code and message; a code that gRPC does not define becomes UNKNOWN.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace trelu

#endif  // TRELU_CLIENT_STATUS_H_
