// A service of a schema whose messages come and go as bytes, on completion queues.
#ifndef TRELU_SERVER_RAW_SERVICE_H_
#define TRELU_SERVER_RAW_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <string>
#include <string_view>

#include "server/event_queue.h"
#include "server/metrics.h"

namespace trelu::server {

// A call that finds no waiting handler goes through a locked list first, so a few wait at all times
// for each busy method and queue; not many, since Debian's gRPC scans a queue's outstanding tags at
// every completion.
inline constexpr int kWaitingCalls = 8;

// A gRPC method as wire, logs and metrics name it. Made at start.
struct Method {
  int index;         // in its service
  std::string path;  // "/package.Service/Method"
  MethodMetrics& metrics;

  // "package.Service/Method"
  std::string_view name() const { return std::string_view(path).substr(1); }
};

// Names and kinds of methods come from the schema, so that they are written down once. gRPC answers
// a method that was not added with UNIMPLEMENTED. Each added method must have a handler waiting at
// all times, or its calls wait for one.
class RawService final : public grpc::Service {
 public:
  // `schema` is a generated one, alive as long as the process.
  RawService(const google::protobuf::ServiceDescriptor& schema, Metrics& metrics);

  // At start only, before the service is registered. `name` stands in the schema. The reference
  // stays valid as long as the object.
  const Method& Add(std::string_view name);

  // Each asks for one call of a method, on `queue`'s thread: `tag` comes back when it has arrived.
  // A method of one request message:
  void Request(const Method& method, grpc::ServerContext& context, grpc::ByteBuffer& message,
               grpc::internal::ServerAsyncStreamingInterface& responder, EventQueue& queue,
               void* tag);
  // A method of a stream of them:
  void Request(const Method& method, grpc::ServerContext& context,
               grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>& stream,
               EventQueue& queue, void* tag);

 private:
  const google::protobuf::ServiceDescriptor& schema_;
  Metrics& metrics_;
  std::deque<Method> methods_;  // gRPC and handlers keep pointers into it
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_RAW_SERVICE_H_
