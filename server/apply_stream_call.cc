// One ApplyStream call: tensors of any size through constant memory, results leaving while input
// arrives.
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "proto/apply_codec.h"
#include "server/refusal.h"
#include "server/tensor_stream.h"
#include "server/thresholded_relu_service.h"

namespace trelu::server {
namespace {

using Clock = std::chrono::steady_clock;

// Results that may wait to be written while the next message is read. Beyond it the stream is not
// read, and the transport's window stops the caller.
constexpr std::size_t kReadAhead = 3;

// A stream's share of the budget: what it can hold at once, by the largest message so far, so that
// one with even chunks is never turned away half-way.
absl::Status HoldShare(Corridor& corridor, std::optional<Admission::Ticket>& share,
                       std::uint64_t message_bytes) {
  const std::uint64_t wanted = message_bytes * (kReadAhead + 1);
  if (share && wanted <= share->bytes()) return absl::OkStatus();
  if (share) {
    return share->Resize(wanted) ? absl::OkStatus()
                                 : OverBudget(wanted, corridor.admission.max_bytes());
  }
  auto admitted = corridor.Admit(wanted);
  if (!admitted.ok()) return admitted.status();
  share.emplace(*std::move(admitted));
  return absl::OkStatus();
}

// The part of the corridor between a message and the kernel.
absl::StatusOr<Payload> Enter(Corridor& corridor, CallScope& call,
                              std::optional<Admission::Ticket>& share, TensorStream& tensors,
                              grpc::ByteBuffer& message) {
  const std::size_t message_bytes = message.Length();
  if (absl::Status size = corridor.CheckSize(message_bytes); !size.ok()) return size;
  if (absl::Status held = HoldShare(corridor, share, message_bytes); !held.ok()) return held;
  auto decoded = DecodeApplyRequest(message);
  if (!decoded.ok()) return decoded.status();
  call.AddRequestBytes(decoded->data.bytes());
  return tensors.Take(*std::move(decoded));
}

// Wakes the stream when nothing may have moved for the timeout.
class IdleTimer {
 public:
  IdleTimer(std::chrono::milliseconds timeout, EventQueue& queue, AnyOperation& any)
      : timeout_(timeout), queue_(queue), expiry_(any) {
    if (timeout_.count() > 0) Arm(timeout_);
  }

  void Moved() { last_move_ = Clock::now(); }

  // Whether the stream has been idle for the whole timeout. Arms itself again if not.
  bool Expired() {
    if (!expiry_.TakeCompletion() || !expiry_.ok()) return false;
    const auto left = timeout_ - (Clock::now() - last_move_);
    if (left <= Clock::duration::zero()) return true;
    Arm(left);
    return false;
  }

  void Stop() {
    if (expiry_.pending()) alarm_.Cancel();
  }
  bool pending() const { return expiry_.pending(); }

 private:
  void Arm(Clock::duration wait) {
    alarm_.Set(queue_.get(),
               std::chrono::system_clock::now() +
                   std::chrono::duration_cast<std::chrono::system_clock::duration>(wait),
               expiry_.Start());
  }

  const std::chrono::milliseconds timeout_;
  EventQueue& queue_;
  PendingOperation expiry_;
  grpc::Alarm alarm_;
  Clock::time_point last_move_ = Clock::now();
};

}  // namespace

Task ThresholdedReluService::ApplyStream(EventQueue& queue) {
  const LiveCount::Guard frame(corridor_.frames);
  grpc::ServerContext context;
  CallEnd end;
  context.AsyncNotifyWhenDone(end.tag());
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream(&context);
  const bool arrived = co_await Operation([&](void* tag) {
    service_.RequestApplyStream(&context, &stream, queue.get(), queue.get(), tag);
  });
  if (!arrived) co_return;
  ApplyStream(queue);

  const LiveCount::Guard in_flight(corridor_.calls);
  CallScope call(corridor_, apply_stream_, context);
  AnyOperation any;
  PendingOperation read(any);
  PendingOperation write(any);
  IdleTimer idle(corridor_.options.stream_idle_timeout, queue, any);
  Broadcast::Listener time_up(corridor_.time_up, queue, any);
  grpc::ByteBuffer message;
  grpc::ByteBuffer result;
  std::deque<grpc::ByteBuffer> results;
  std::optional<Admission::Ticket> share;
  TensorStream tensors;
  absl::Status status = corridor_.Open();
  bool input_ended = false;

  while (true) {
    const bool wants_input = status.ok() && !input_ended;
    if (wants_input && !read.pending() && results.size() < kReadAhead) {
      stream.Read(&message, read.Start());
    }
    if (!results.empty() && !write.pending()) {
      result.Swap(&results.front());
      results.pop_front();
      stream.Write(result, write.Start());
    }
    if (!wants_input && !write.pending()) break;
    co_await any;

    if (idle.Expired()) {
      status = Idle(corridor_.options.stream_idle_timeout);
      break;
    }
    if (time_up.TakeCompletion()) {
      status = Draining();
      break;
    }
    if (write.TakeCompletion()) {
      idle.Moved();
      if (!write.ok()) {
        status = CallerGone(context.deadline());
        break;
      }
    }
    if (!read.TakeCompletion()) continue;
    idle.Moved();
    if (!read.ok()) {
      input_ended = true;
      status = tensors.Finish();
      continue;
    }
    auto elements = Enter(corridor_, call, share, tensors, message);
    status = elements.status();
    if (!status.ok()) continue;
    if (!elements->empty()) {
      Compute compute(corridor_, queue, context, end, tensors.op(), *elements);
      status = co_await compute;
      // The caller is not to blame for a wait for the workers.
      idle.Moved();
    }
    if (!status.ok()) continue;
    if (auto encoded = tensors.EncodeResult(*std::move(elements))) {
      results.push_back(*std::move(encoded));
    }
  }

  // A write that waits for a caller who does not read ends only with the call.
  if (write.pending()) context.TryCancel();
  while (write.pending()) co_await any;
  const grpc::Status to_send = call.ToSend(status);
  const bool sent = co_await Operation([&](void* tag) { stream.Finish(to_send, tag); });
  idle.Stop();
  time_up.Stop();
  while (read.pending() || idle.pending() || time_up.pending()) co_await any;
  co_await end;
  call.End(status, sent && !context.IsCancelled());
}

}  // namespace trelu::server
