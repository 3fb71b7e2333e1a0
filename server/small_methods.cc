#include "server/small_methods.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <optional>
#include <utility>

#include "server/on_worker.h"
#include "server/unary_call.h"

namespace trelu::server {

absl::Status ParseMessage(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  const std::string type = message.GetTypeName();
  const std::string name = type.substr(type.rfind('.') + 1);
  if (bytes.Length() > kMaxSmallMessageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " of ", bytes.Length(), " bytes: at most ", kMaxSmallMessageBytes));
  }
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed ", name, ": not a valid protobuf message"));
  }
  return absl::OkStatus();
}

grpc::ByteBuffer SerializeMessage(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

void SmallMethods::Accept(EventQueue& queue) {
  for (const Handler& handler : handlers_) Serve(handler, queue);
}

Task SmallMethods::Serve(const Handler& handler, EventQueue& queue) {
  UnaryCall call(corridor_, service_, handler.method, queue);
  if (!co_await call.Arrival()) co_return;
  Serve(handler, queue);

  absl::Status status;
  const auto answer = [&] { status = handler.answer(call.message()); };
  if (handler.where == Where::kQueue) {
    answer();
  } else {
    OnWorker chore(corridor_.chores, queue, answer);
    co_await chore;
  }
  // Long lists wait for callers who may not read them.
  std::optional<Admission::Ticket> ticket;
  if (const std::size_t bytes = call.message().Length();
      status.ok() && bytes > kMaxSmallMessageBytes) {
    auto admitted = corridor_.Admit(bytes);
    status = admitted.status();
    if (status.ok()) ticket.emplace(*std::move(admitted));
  }
  co_await call.Finish(status, call.message());
}

}  // namespace trelu::server
