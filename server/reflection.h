// grpc.reflection.v1alpha: tools ask the server for its schema.
#ifndef TRELU_SERVER_REFLECTION_H_
#define TRELU_SERVER_REFLECTION_H_

#include <grpcpp/server_builder.h>

namespace trelu::server {

// With or without reflection, for this builder's server. (gRPC's library switches it on for every
// server of the process; without means taking it out again.) It is a synchronous service: it costs
// one thread, and calls of other services nothing.
void SetReflection(grpc::ServerBuilder& builder, bool enabled);

}  // namespace trelu::server

#endif  // TRELU_SERVER_REFLECTION_H_
