#include "server/stream_call.h"

#include <deque>
#include <utility>

#include "server/idle_timer.h"
#include "server/refusal.h"

namespace trelu::server {
namespace {

// Results that may wait to be written while the next message is read. Beyond it the stream is not
// read, and the transport's window stops the caller.
constexpr std::size_t kReadAhead = 3;

// A stream's share of the budget: what it can hold at once, by the largest message so far, so that
// a tensor in even messages is never turned away half-way.
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

// The part of the corridor between a message and the kernel. Returns a share of the shared memory,
// for as long as it is worked on.
absl::StatusOr<Admission::Ticket> Enter(Corridor& corridor, std::optional<Admission::Ticket>& share,
                                        Conversation& conversation, grpc::ByteBuffer& message) {
  const std::size_t message_bytes = message.Length();
  if (absl::Status size = corridor.CheckSize(message_bytes); !size.ok()) return size;
  if (absl::Status taken = conversation.Take(message); !taken.ok()) return taken;
  const absl::Status held = HoldShare(corridor, share, message_bytes + conversation.fresh_bytes());
  if (!held.ok()) return held;
  return corridor.AdmitShared(conversation.shared_bytes());
}

}  // namespace

Task ServeStream(Corridor& corridor, RawService& service, const Method& method,
                 const BeginConversation& begin, EventQueue& queue) {
  const LiveCount::Guard frame(corridor.frames);
  grpc::ServerContext context;
  CallEnd end;
  context.AsyncNotifyWhenDone(end.tag());
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream(&context);
  const bool arrived =
      co_await Operation([&](void* tag) { service.Request(method, context, stream, queue, tag); });
  if (!arrived) co_return;
  ServeStream(corridor, service, method, begin, queue);

  const LiveCount::Guard in_flight(corridor.calls);
  CallScope call(corridor, method, context);
  AnyOperation any;
  PendingOperation read(any);
  PendingOperation write(any);
  IdleTimer idle(corridor.options.stream_idle_timeout, queue, any);
  Broadcast::Listener drain_news(corridor.drain_news, queue, any);
  grpc::ByteBuffer message;
  grpc::ByteBuffer result;
  std::deque<grpc::ByteBuffer> results;
  std::optional<Admission::Ticket> share;
  const std::unique_ptr<Conversation> conversation = begin(call, context);
  absl::Status status = corridor.Open();
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
    // Streams may stay open for hours.
    if (!write.pending() && conversation->between_tensors()) share.reset();
    if (corridor.draining.load() && conversation->at_rest() && !write.pending()) {
      status = Draining();
      break;
    }
    co_await any;

    if (idle.Expired()) {
      status = Idle(corridor.options.stream_idle_timeout);
      break;
    }
    if (drain_news.TakeCompletion() && corridor.time_is_up.load()) {
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
      status = conversation->Finish();
      continue;
    }
    const auto shared = Enter(corridor, share, *conversation, message);
    status = shared.status();
    std::optional<Compute> compute;
    if (std::optional<Work> work; status.ok() && (work = conversation->TakeWork())) {
      // g++ 12.2 would copy `*compute` here.
      Compute& running =
          compute.emplace(corridor, queue, end, conversation->deadline(), *std::move(work));
      status = co_await running;
      // The caller is not to blame for a wait for the workers.
      idle.Moved();
    }
    if (auto answer = conversation->Answer(status, compute ? &*compute : nullptr)) {
      results.push_back(*std::move(answer));
    }
  }

  // A write that waits for a caller who does not read ends only with the call.
  if (write.pending()) context.TryCancel();
  while (write.pending()) co_await any;
  const grpc::Status to_send = call.ToSend(status);
  const bool sent = co_await Operation([&](void* tag) { stream.Finish(to_send, tag); });
  idle.Stop();
  drain_news.Stop();
  while (read.pending() || idle.pending() || drain_news.pending()) co_await any;
  co_await end;
  call.End(status, sent && !context.IsCancelled());
}

}  // namespace trelu::server
