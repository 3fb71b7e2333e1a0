// The ceiling: gRPC alone. Sends the bytes of each request back, as they lie in the received
// slices, by the least code that gRPC's own interface allows: one completion queue and its thread,
// no coroutine, no metrics, no look at the bytes. Same settings of the transport as trelu-server.
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "server/event.h"
#include "server/transport.h"
#include "tests/benchmark/contenders/contender.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu::benchmark {
namespace {

using Native = v1::ThresholdedRelu;
using RawService = Native::WithRawMethod_Apply<Native::WithRawMethod_ApplyStream<Native::Service>>;

// As many calls wait for a caller as in trelu-server.
constexpr int kWaitingCalls = 8;

struct Acceptor {
  RawService service;
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
};

class UnaryEcho final : public server::Event {
 public:
  explicit UnaryEcho(Acceptor& acceptor) : acceptor_(acceptor), responder_(&context_) {
    acceptor_.service.RequestApply(&context_, &message_, &responder_, acceptor_.queue.get(),
                                   acceptor_.queue.get(), tag());
  }

 private:
  void Fire(bool ok) override {
    if (answered_ || !ok) {
      delete this;
      return;
    }
    new UnaryEcho(acceptor_);
    answered_ = true;
    responder_.Finish(message_, grpc::Status::OK, tag());
  }

  Acceptor& acceptor_;
  grpc::ServerContext context_;
  grpc::ByteBuffer message_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> responder_;
  bool answered_ = false;
};

// Reads on while it writes, as far ahead as trelu-server does.
class StreamEcho {
 public:
  explicit StreamEcho(Acceptor& acceptor) : acceptor_(acceptor), stream_(&context_) {
    acceptor_.service.RequestApplyStream(&context_, &stream_, acceptor_.queue.get(),
                                         acceptor_.queue.get(), arrived_.tag());
  }

 private:
  static constexpr std::size_t kReadAhead = 3;

  // Calls a member function of the echo's.
  class Step final : public server::Event {
   public:
    Step(StreamEcho& echo, void (StreamEcho::*then)(bool)) : echo_(echo), then_(then) {}

   private:
    void Fire(bool ok) override { (echo_.*then_)(ok); }
    StreamEcho& echo_;
    void (StreamEcho::*const then_)(bool);
  };

  void Arrived(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    new StreamEcho(acceptor_);
    Go();
  }
  void Read(bool ok) {
    reading_ = false;
    if (ok) {
      waiting_.emplace_back().Swap(&incoming_);
    } else {
      input_ended_ = true;
    }
    Go();
  }
  void Written(bool ok) {
    writing_ = false;
    if (!ok) waiting_.clear();
    Go();
  }
  void Finished(bool) { delete this; }

  void Go() {
    if (!input_ended_ && !reading_ && waiting_.size() < kReadAhead) {
      reading_ = true;
      stream_.Read(&incoming_, read_.tag());
    }
    if (!waiting_.empty() && !writing_) {
      writing_ = true;
      outgoing_.Swap(&waiting_.front());
      waiting_.pop_front();
      stream_.Write(outgoing_, written_.tag());
    }
    if (input_ended_ && !writing_) stream_.Finish(grpc::Status::OK, finished_.tag());
  }

  Acceptor& acceptor_;
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::deque<grpc::ByteBuffer> waiting_;
  bool reading_ = false;
  bool writing_ = false;
  bool input_ended_ = false;
  Step arrived_{*this, &StreamEcho::Arrived};
  Step read_{*this, &StreamEcho::Read};
  Step written_{*this, &StreamEcho::Written};
  Step finished_{*this, &StreamEcho::Finished};
};

class Echo final : public Handlers {
 public:
  void Register(const server::Options& options, grpc::ServerBuilder& builder) override {
    server::ConfigureTransport(options, builder);
    builder.RegisterService(&acceptor_.service);
    acceptor_.queue = builder.AddCompletionQueue();
  }

  void Start() override {
    thread_ = std::thread([this] {
      for (int i = 0; i < kWaitingCalls; ++i) {
        new UnaryEcho(acceptor_);
        new StreamEcho(acceptor_);
      }
      void* tag = nullptr;
      bool ok = false;
      while (acceptor_.queue->Next(&tag, &ok)) server::Event::FireTag(tag, ok);
    });
  }

  void Stop() override {
    acceptor_.queue->Shutdown();
    thread_.join();
  }

 private:
  Acceptor acceptor_;
  std::thread thread_;
};

}  // namespace
}  // namespace trelu::benchmark

int main(int argc, char** argv) {
  trelu::benchmark::Echo echo;
  return trelu::benchmark::ServeContender(argc, argv, echo);
}
