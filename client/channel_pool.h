// The connections of a client.
#ifndef TRELU_CLIENT_CHANNEL_POOL_H_
#define TRELU_CLIENT_CHANNEL_POOL_H_

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <memory>
#include <vector>

#include "trelu/client.h"

namespace trelu {

// Plaintext or TLS. NOT_FOUND, PERMISSION_DENIED or what the file system says, with the path, for a
// file that cannot be read; INVALID_ARGUMENT for a certificate without key or a key without
// certificate.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const TlsOptions& tls);

// Channels that share no connection, taken in turn. Any thread.
class ChannelPool {
 public:
  ChannelPool(const ClientOptions& options,
              const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  const std::shared_ptr<grpc::Channel>& NextChannel() { return Next().channel; }
  grpc::GenericStub& NextStub() { return Next().stub; }

 private:
  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    grpc::GenericStub stub;
  };
  Connection& Next();

  std::vector<Connection> connections_;
  std::atomic<std::size_t> turn_{0};
};

}  // namespace trelu

#endif  // TRELU_CLIENT_CHANNEL_POOL_H_
