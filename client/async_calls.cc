#include "client/async_calls.h"

#include <absl/strings/str_cat.h>

#include <system_error>
#include <utility>

namespace trelu {

AsyncCalls::~AsyncCalls() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [call, owner] : live_) call->Cancel();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void AsyncCalls::Start(std::unique_ptr<Call> call, Call::Done done) {
  Call& begun = *call;
  absl::Status started;
  {
    const std::lock_guard lock(mutex_);
    started = StartThread();
    if (stopping_) begun.Cancel();
    if (started.ok()) live_.emplace(&begun, std::move(call));
  }
  if (!started.ok()) {
    done(std::move(started));
    return;
  }
  changed_.notify_one();
  begun.Begin(queue_, [this, &begun, done = std::move(done)](absl::Status status) {
    done(std::move(status));
    Forget(&begun);
  });
}

absl::Status AsyncCalls::StartThread() {
  if (thread_.joinable()) return absl::OkStatus();
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
  }
  return absl::OkStatus();
}

void AsyncCalls::Forget(Call* call) {
  std::unique_ptr<Call> owner;
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(call);
  owner = std::move(found->second);
  live_.erase(found);
}

void AsyncCalls::Run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !live_.empty(); });
      if (live_.empty()) return;
    }
    void* tag = nullptr;
    bool ok = false;
    if (queue_.Next(&tag, &ok)) Event::Dispatch(tag, ok);
  }
}

}  // namespace trelu
