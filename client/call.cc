#include "client/call.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "client/status.h"

namespace trelu {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kForever = std::chrono::hours(24 * 365);

gpr_timespec FromNow(milliseconds wait) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(wait.count(), GPR_TIMESPAN));
}

absl::Status ClientDestroyed() { return absl::CancelledError("the client was destroyed"); }

}  // namespace

Deadline Deadline::After(milliseconds timeout) {
  Deadline deadline;
  if (timeout != milliseconds::zero() && timeout < kForever) {
    deadline.at_ = steady_clock::now() + std::max(timeout, -kForever);
  }
  return deadline;
}

Deadline Deadline::Within(milliseconds most) const {
  // Not zero, which would mean never.
  return After(std::max(std::min(remaining(), most), milliseconds(1)));
}

milliseconds Deadline::remaining() const {
  if (!at_.has_value()) return kForever;
  return std::chrono::ceil<milliseconds>(*at_ - steady_clock::now());
}

void Deadline::ApplyTo(grpc::ClientContext& context) const {
  if (at_.has_value()) context.set_deadline(FromNow(remaining()));
}

TriedCall::TriedCall(Deadline deadline, RetrySchedule retry) : deadline_(deadline), retry_(retry) {}

void TriedCall::Begin(grpc::CompletionQueue& queue, Done done) {
  queue_ = &queue;
  done_ = std::move(done);
  NewTry();
}

void TriedCall::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (context_.has_value()) context_->TryCancel();
  if (wait_.has_value()) wait_->Cancel();
}

void TriedCall::NewTry() {
  const std::lock_guard lock(mutex_);
  context_.emplace();
  deadline_.ApplyTo(*context_);
  if (cancelled_) context_->TryCancel();
  StartTry();
}

PushBack TriedCall::push_back() const {
  const auto& metadata = context_->GetServerTrailingMetadata();
  const auto found = metadata.find("grpc-retry-pushback-ms");
  if (found == metadata.end()) return PushBack::Parse(std::nullopt);
  return PushBack::Parse(std::string_view(found->second.data(), found->second.size()));
}

void TriedCall::TryFailed(const grpc::Status& status, bool may_retry) {
  const PushBack push_back = this->push_back();
  DropTry();
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    context_.reset();
    cancelled = cancelled_;
    if (may_retry && !cancelled) {
      const auto wait = retry_.NextWait(status.error_code(), push_back, deadline_.remaining());
      if (wait.has_value()) {
        wait_.emplace();
        wait_->Set(queue_, FromNow(*wait), waited_.Tag());
        return;
      }
    }
  }
  End(cancelled ? ClientDestroyed() : FromGrpc(status));
}

void TriedCall::OnWaited(bool /*ok*/) {
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    wait_.reset();
    cancelled = cancelled_;
  }
  if (cancelled) {
    End(ClientDestroyed());
  } else {
    NewTry();
  }
}

void TriedCall::End(absl::Status status) {
  const Done done = std::move(done_);
  done(std::move(status));
}

absl::Status RunHere(Call& call) {
  grpc::CompletionQueue queue;
  std::optional<absl::Status> result;
  call.Begin(queue, [&result](absl::Status status) { result = std::move(status); });
  void* tag = nullptr;
  bool ok = false;
  while (!result.has_value() && queue.Next(&tag, &ok)) Event::Dispatch(tag, ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return *std::move(result);
}

}  // namespace trelu
