#include "client/sequence.h"

#include <utility>

namespace trelu {

void Sequence::Begin(grpc::CompletionQueue& queue, Done done) {
  queue_ = &queue;
  done_ = std::move(done);
  First();
}

void Sequence::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (current_ != nullptr) current_->Cancel();
}

void Sequence::Run(std::unique_ptr<Call> call, Done then) {
  Call& begun = *call;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) begun.Cancel();
    current_.swap(call);
  }
  // Not under the lock: what goes with a call may have calls to make itself.
  call.reset();
  begun.Begin(*queue_, std::move(then));
}

void Sequence::End(absl::Status status) {
  const Done done = std::move(done_);
  done(std::move(status));
}

}  // namespace trelu
