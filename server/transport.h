// What gRPC is told of messages, memory and connections.
#ifndef TRELU_SERVER_TRANSPORT_H_
#define TRELU_SERVER_TRANSPORT_H_

#include <grpcpp/server_builder.h>

#include "server/options.h"

namespace trelu::server {

// At start, before the builder makes the server. `options` have no automatic values any more.
void ConfigureTransport(const Options& options, grpc::ServerBuilder& builder);

}  // namespace trelu::server

#endif  // TRELU_SERVER_TRANSPORT_H_
