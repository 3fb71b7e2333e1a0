// One call with a stream each way: messages in, results out while input arrives, in constant
// memory.
#ifndef TRELU_SERVER_STREAM_CALL_H_
#define TRELU_SERVER_STREAM_CALL_H_

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "server/call_scope.h"
#include "server/compute.h"
#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/raw_service.h"
#include "server/task.h"

namespace trelu::server {

// What a method makes of one call's messages, one after the other. On the queue's thread.
class Conversation {
 public:
  virtual ~Conversation() = default;

  // Decodes and validates the next message. After an error, Answer is asked what to make of it.
  virtual absl::Status Take(grpc::ByteBuffer& message) = 0;

  // Memory that the result will take beside the message's.
  virtual std::uint64_t fresh_bytes() const { return 0; }
  // Clients' own memory that is worked on.
  virtual std::uint64_t shared_bytes() const { return 0; }

  // What Take found to be computed, if anything; what it refers to stays until Answer.
  virtual std::optional<Work> TakeWork() = 0;
  // By when the caller wants it.
  virtual std::chrono::system_clock::time_point deadline() const = 0;

  // The result to send, if there is one. `status` says how the message fared; the conversation ends
  // with it unless it is OK or made OK here (an error that the result tells). `compute` is null
  // when nothing was computed.
  virtual std::optional<grpc::ByteBuffer> Answer(absl::Status& status, const Compute* compute) = 0;

  // Whether no tensor is half-way: what comes next may be turned away by itself.
  virtual bool between_tensors() const = 0;
  // Whether the caller loses nothing when the stream ends here, everything so far being answered.
  virtual bool at_rest() const { return false; }

  // The caller has sent everything: how the call ends.
  virtual absl::Status Finish() = 0;
};

// For each call; both arguments outlive the conversation.
using BeginConversation =
    std::function<std::unique_ptr<Conversation>(CallScope&, const grpc::ServerContext&)>;

// Waits for one call of `method`, arms its successor, and serves the call to its end. `begin`
// outlives it.
Task ServeStream(Corridor& corridor, RawService& service, const Method& method,
                 const BeginConversation& begin, EventQueue& queue);

}  // namespace trelu::server

#endif  // TRELU_SERVER_STREAM_CALL_H_
