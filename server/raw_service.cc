#include "server/raw_service.h"

#include <grpcpp/impl/rpc_service_method.h>

#include <absl/strings/str_cat.h>

namespace trelu::server {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

RpcMethod::RpcType KindOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

// As the other gRPC libraries' exporters spell them.
const char* NameOf(RpcMethod::RpcType kind) {
  switch (kind) {
    case RpcMethod::NORMAL_RPC:
      return "unary";
    case RpcMethod::CLIENT_STREAMING:
      return "client_stream";
    case RpcMethod::SERVER_STREAMING:
      return "server_stream";
    case RpcMethod::BIDI_STREAMING:
      return "bidi_stream";
  }
  return "unary";
}

}  // namespace

RawService::RawService(const google::protobuf::ServiceDescriptor& schema, Metrics& metrics)
    : schema_(schema), metrics_(metrics) {}

const Method& RawService::Add(std::string_view name) {
  const RpcMethod::RpcType kind = KindOf(*schema_.FindMethodByName(std::string(name)));
  const int index = static_cast<int>(methods_.size());
  methods_.push_back(
      {.index = index,
       .path = absl::StrCat("/", schema_.full_name(), "/", std::string(name)),
       .metrics = metrics_.AddMethod(NameOf(kind), schema_.full_name(), std::string(name))});
  AddMethod(new RpcServiceMethod(methods_.back().path.c_str(), kind, nullptr));  // owned by gRPC
  MarkMethodRaw(index);
  return methods_.back();
}

void RawService::Request(const Method& method, grpc::ServerContext& context,
                         grpc::ByteBuffer& message,
                         grpc::internal::ServerAsyncStreamingInterface& responder,
                         EventQueue& queue, void* tag) {
  RequestAsyncUnary(method.index, &context, &message, &responder, queue.get(), queue.get(), tag);
}

void RawService::Request(const Method& method, grpc::ServerContext& context,
                         grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>& stream,
                         EventQueue& queue, void* tag) {
  RequestAsyncBidiStreaming(method.index, &context, &stream, queue.get(), queue.get(), tag);
}

}  // namespace trelu::server
