#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/benchmark/load/channels.h"
#include "tests/benchmark/load/messages.h"
#include "tests/benchmark/load/payload.h"
#include "tests/benchmark/load/runs.h"

namespace trelu::benchmark {
namespace {

// One stream that keeps `in_flight` messages on their way, `in_all` altogether, reading and writing
// side by side.
class Stream {
 public:
  Stream(const std::shared_ptr<grpc::Channel>& channel, Messages& messages, std::size_t in_flight,
         std::size_t in_all, Window& window, grpc::CompletionQueue& queue)
      : stub_(channel), messages_(messages), in_flight_(in_flight), left_(in_all), window_(window) {
    call_ = stub_.PrepareCall(&context_, messages_.path(), &queue);
    call_->StartCall(&started_);
  }

  // What is still on its way is given up.
  void Cancel() { context_.TryCancel(); }

  // What a completion queue hands back.
  using Tag = std::function<void(bool)>;

 private:
  void Started(bool ok) {
    if (!ok) Fail("the stream did not start");
    call_->Read(&answer_, &read_);
    Write();
  }

  void Write() {
    if (writing_ || window_.over() || left_ == 0 || sent_.size() >= in_flight_) return;
    writing_ = true;
    --left_;
    sent_.push_back(Clock::now());
    call_->Write(std::exchange(first_write_, false) ? messages_.first() : messages_.next(),
                 &written_);
  }

  void Written(bool ok) {
    writing_ = false;
    if (!ok && !window_.over()) Fail("the stream broke");
    Write();
  }

  void Read(bool ok) {
    if (!ok) {
      call_->Finish(&status_, &finished_);
      return;
    }
    messages_.Check(answer_, std::exchange(first_read_, false));
    window_.Answered(sent_.front());
    sent_.pop_front();
    if (window_.over()) return;
    call_->Read(&answer_, &read_);
    Write();
  }

  grpc::GenericStub stub_;
  Messages& messages_;
  const std::size_t in_flight_;
  std::size_t left_;
  Window& window_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  std::deque<Clock::time_point> sent_;
  bool first_write_ = true;
  bool first_read_ = true;
  bool writing_ = false;
  Tag started_ = [this](bool ok) { Started(ok); };
  Tag read_ = [this](bool ok) { Read(ok); };
  Tag written_ = [this](bool ok) { Written(ok); };
  Tag finished_ = [this](bool) { Fail("the stream ended: " + status_.error_message()); };
};

// All streams of a run with their queue.
class Streams {
 public:
  // Each sends `in_all` messages.
  Streams(const LoadOptions& options, std::size_t in_all, Window& window)
      : messages_(options), channels_(Connect(options)) {
    const int in_flight = std::max(1, options.in_flight / options.streams);
    for (int i = 0; i < options.streams; ++i) {
      streams_.push_back(std::make_unique<Stream>(
          channels_[static_cast<std::size_t>(i) % channels_.size()], messages_,
          static_cast<std::size_t>(in_flight), in_all, window, queue_));
    }
  }
  ~Streams() {
    for (const auto& stream : streams_) stream->Cancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Waits for the next event and deals with it; false when none came until then.
  bool Step(std::chrono::system_clock::time_point until) {
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return false;
    (*static_cast<Stream::Tag*>(tag))(ok);
    return true;
  }

 private:
  Messages messages_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

constexpr auto kNever = std::chrono::system_clock::time_point::max();

}  // namespace

void RunStreams(const LoadOptions& options, Window& window) {
  Streams streams(options, std::numeric_limits<std::size_t>::max(), window);
  while (!window.over()) streams.Step(kNever);
}

void RunIdleStreams(const LoadOptions& options) {
  Window window(options.seconds, options.streams, 0);
  Streams streams(options, 1, window);
  while (window.answers() < static_cast<std::size_t>(options.streams)) streams.Step(kNever);
  std::printf("idle\n");
  std::fflush(stdout);
  const auto until = std::chrono::system_clock::now() +
                     std::chrono::milliseconds(static_cast<int>(options.seconds * 1e3));
  while (streams.Step(until)) {
  }
}

}  // namespace trelu::benchmark
