// The server's gRPC addresses, from the flag's text to the ports that the system gave.
#ifndef TRELU_SERVER_LISTENERS_H_
#define TRELU_SERVER_LISTENERS_H_

#include <absl/status/status.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <vector>

namespace trelu::server {

// Used once, around ServerBuilder::BuildAndStart, and alive during it.
class Listeners {
 public:
  explicit Listeners(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}

  // INVALID_ARGUMENT for text that is no address; FAILED_PRECONDITION for a Unix path that a server
  // answers on (gRPC would take the path away from it silently) or that is no socket.
  absl::Status AddTo(grpc::ServerBuilder& builder,
                     const std::shared_ptr<grpc::ServerCredentials>& credentials);

  // After a failed start: UNAVAILABLE, naming the address that could not be bound.
  absl::Status WhyNotStarted() const;

  // After a start: the addresses in the order given, ports filled in.
  std::vector<std::string> Bound() const;

 private:
  std::vector<std::string> addresses_;
  std::vector<int> ports_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_LISTENERS_H_
