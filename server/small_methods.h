// The methods of a service that answer a small message with a small message.
#ifndef TRELU_SERVER_SMALL_METHODS_H_
#define TRELU_SERVER_SMALL_METHODS_H_

#include <absl/status/statusor.h>
#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <string_view>

#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/raw_service.h"
#include "server/task.h"

namespace trelu::server {

// None of their messages is longer; a longer one would be parsed into many times its bytes.
inline constexpr std::size_t kMaxSmallMessageBytes = 4096;

// INVALID_ARGUMENT for what protobuf cannot parse, or is too long. Left to gRPC, such a call would
// end with INTERNAL and never reach us, so that neither log nor metrics would know of it.
absl::Status ParseMessage(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message);
grpc::ByteBuffer SerializeMessage(const google::protobuf::MessageLite& message);

class SmallMethods {
 public:
  // Where an answer is made: on the queue's thread at once, or, when it may wait for the disk or
  // the kernel, on the thread for such chores, so that no tensor waits for it.
  enum class Where { kQueue, kChores };

  // Both outlive the object.
  SmallMethods(Corridor& corridor, RawService& service) : corridor_(corridor), service_(service) {}

  // At start only. `answer` is called by many threads at the same time, also while draining.
  template <typename Request, typename Response>
  void Add(std::string_view name, std::function<absl::StatusOr<Response>(const Request&)> answer,
           Where where = Where::kQueue) {
    handlers_.push_back(
        {service_.Add(name), where, [answer = std::move(answer)](grpc::ByteBuffer& bytes) {
           Request request;
           if (absl::Status parsed = ParseMessage(bytes, request); !parsed.ok()) return parsed;
           absl::StatusOr<Response> response = answer(request);
           if (response.ok()) bytes = SerializeMessage(*response);
           return response.status();
         }});
  }

  // Begins to take calls of them all from `queue`, on its thread, after the server has started.
  void Accept(EventQueue& queue);

 private:
  struct Handler {
    const Method& method;
    Where where;
    // Turns a request into its response.
    std::function<absl::Status(grpc::ByteBuffer&)> answer;
  };
  Task Serve(const Handler& handler, EventQueue& queue);

  Corridor& corridor_;
  RawService& service_;
  std::deque<Handler> handlers_;  // waiting handlers refer to them
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SMALL_METHODS_H_
