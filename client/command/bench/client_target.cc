#include "client/command/bench/client_target.h"

#include <algorithm>
#include <utility>

#include "core/thresholded_relu.h"

namespace trelu::command {

CallTarget::CallTarget(std::unique_ptr<Client> client, const TensorSpec& spec,
                       const ApplyOptions& options, std::size_t slots)
    : spec_(spec),
      options_(options),
      tensor_(spec, options.alpha.value_or(kDefaultAlpha)),
      x_(spec.bytes()),
      slots_(slots),
      client_(std::move(client)) {
  tensor_.CopyInput(0, x_);
  // Filled with zeros, so that no page is touched for the first time while the clock runs.
  for (Slot& slot : slots_) slot.y.resize(spec.bytes());
}

void CallTarget::Send(std::size_t slot, Done done) {
  Slot& mine = slots_[slot];
  mine.done = std::move(done);
  // What an earlier answer left must not pass for this one's.
  if (verify()) std::fill(mine.y.begin(), mine.y.end(), std::byte{0xa5});
  // The capture is small enough for a std::function that allocates nothing.
  client_->ApplyAsync(spec_, x_, mine.y, options_,
                      [this, slot](absl::Status status) { Answered(slot, std::move(status)); });
}

void CallTarget::Answered(std::size_t slot, absl::Status status) {
  if (status.ok() && verify()) status = tensor_.CheckAnswer(0, slots_[slot].y);
  const Done done = std::move(slots_[slot].done);
  done(status);
}

StreamTarget::StreamTarget(std::unique_ptr<Client> client, const TensorSpec& spec,
                           const ApplyOptions& options, std::size_t slots)
    : spec_(spec),
      options_(options),
      tensor_(spec, options.alpha.value_or(kDefaultAlpha)),
      client_(std::move(client)),
      slots_(slots) {
  for (Slot& slot : slots_) slot.thread = std::thread([this, &slot] { Serve(slot); });
}

StreamTarget::~StreamTarget() {
  for (Slot& slot : slots_) {
    const std::lock_guard lock(slot.mutex);
    slot.closing = true;
    slot.wake.notify_one();
  }
  for (Slot& slot : slots_) slot.thread.join();
}

void StreamTarget::Send(std::size_t slot, Done done) {
  const std::lock_guard lock(slots_[slot].mutex);
  slots_[slot].next = std::move(done);
  slots_[slot].wake.notify_one();
}

void StreamTarget::Serve(Slot& slot) {
  while (true) {
    Done done;
    {
      std::unique_lock lock(slot.mutex);
      slot.wake.wait(lock, [&slot] { return slot.closing || slot.next != nullptr; });
      if (slot.next == nullptr) return;
      done = std::exchange(slot.next, nullptr);
    }
    done(Stream());
  }
}

absl::Status StreamTarget::Stream() {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const Client::Source source = [&](std::span<std::byte> piece) {
    if (abandoned_) return absl::CancelledError("abandoned");
    tensor_.CopyInput(sent, piece);
    sent += piece.size();
    return absl::OkStatus();
  };
  const Client::Sink sink = [&](std::span<const std::byte> piece) {
    if (abandoned_) return absl::CancelledError("abandoned");
    const std::uint64_t offset = std::exchange(received, received + piece.size());
    return verify() ? tensor_.CheckAnswer(offset, piece) : absl::OkStatus();
  };
  absl::Status status = client_->ApplyStream(spec_, source, sink, options_);
  if (status.ok() && received != spec_.bytes()) {
    return absl::DataLossError("the stream's result is shorter than its tensor");
  }
  return status;
}

}  // namespace trelu::command
