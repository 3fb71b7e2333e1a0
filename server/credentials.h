// The server's transport credentials, from files that were checked first.
#ifndef TRELU_SERVER_CREDENTIALS_H_
#define TRELU_SERVER_CREDENTIALS_H_

#include <absl/status/statusor.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/options.h"

namespace trelu::server {

// Insecure without tls_cert; with it TLS, and mutual TLS with tls_client_ca, where a client must
// show a certificate. FAILED_PRECONDITION, naming the path and the reason but nothing of the
// content, for a file that is unreadable, empty or not PEM, for a certificate out of its time, and
// for a key that is encrypted or another certificate's: gRPC alone would start and refuse every
// handshake.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(const Options& options);

}  // namespace trelu::server

#endif  // TRELU_SERVER_CREDENTIALS_H_
