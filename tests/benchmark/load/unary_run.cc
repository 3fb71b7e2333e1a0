#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/benchmark/load/channels.h"
#include "tests/benchmark/load/messages.h"
#include "tests/benchmark/load/payload.h"
#include "tests/benchmark/load/runs.h"

namespace trelu::benchmark {
namespace {

// One call after the other.
class Caller {
 public:
  Caller(const std::shared_ptr<grpc::Channel>& channel, Messages& messages,
         grpc::CompletionQueue& queue)
      : stub_(channel), messages_(messages), queue_(queue) {}

  void Send() {
    context_.emplace();
    sent_ = Clock::now();
    call_ = stub_.PrepareUnaryCall(&*context_, messages_.path(), messages_.first(), &queue_);
    call_->StartCall();
    call_->Finish(&answer_, &status_, this);
  }

  Clock::time_point TakeAnswer() {
    if (!status_.ok()) Fail(status_.error_message());
    messages_.Check(answer_, true);
    answer_.Clear();
    return sent_;
  }

 private:
  grpc::GenericStub stub_;
  Messages& messages_;
  grpc::CompletionQueue& queue_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> call_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  Clock::time_point sent_;
};

}  // namespace

void RunUnary(const LoadOptions& options, Window& window) {
  Messages messages(options);
  const auto channels = Connect(options);
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < options.in_flight; ++i) {
    callers.push_back(std::make_unique<Caller>(
        channels[static_cast<std::size_t>(i) % channels.size()], messages, queue));
    callers.back()->Send();
  }
  int in_flight = options.in_flight;
  void* tag = nullptr;
  bool ok = false;
  while (in_flight > 0 && queue.Next(&tag, &ok)) {
    auto* caller = static_cast<Caller*>(tag);
    window.Answered(caller->TakeAnswer());
    if (window.over()) {
      --in_flight;
    } else {
      if (options.rest_us > 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(options.rest_us));
      }
      caller->Send();
    }
  }
}

}  // namespace trelu::benchmark
