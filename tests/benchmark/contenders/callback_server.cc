// What a competent user would write in an afternoon: the same schema, protobuf's messages, gRPC's
// callback API, the operator as a plain loop. It has trelu-server's allocator settings and lock
// settings, which such a user would hardly know of.
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "tests/benchmark/contenders/contender.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu::benchmark {
namespace {

// float32 alone, which is what is measured.
void ThresholdedReluOf(const std::string& x, float alpha, std::string& y) {
  y.resize(x.size());
  for (std::size_t i = 0; i + sizeof(float) <= x.size(); i += sizeof(float)) {
    float element = 0;
    std::memcpy(&element, x.data() + i, sizeof(float));
    if (!(element > alpha)) element = 0;
    std::memcpy(y.data() + i, &element, sizeof(float));
  }
}

grpc::Status Apply(const v1::ApplyRequest& request, float alpha, v1::ApplyResponse& response) {
  if (request.has_tensor()) {
    if (request.tensor().dtype() != v1::DATA_TYPE_FLOAT) {
      return {grpc::StatusCode::UNIMPLEMENTED, "float32 only"};
    }
    *response.mutable_tensor() = request.tensor();
  }
  ThresholdedReluOf(request.data(), alpha, *response.mutable_data());
  return grpc::Status::OK;
}

// One stream: a read and a write at a time, side by side.
class StreamReactor final : public grpc::ServerBidiReactor<v1::ApplyRequest, v1::ApplyResponse> {
 public:
  StreamReactor() { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (!ok) {
      input_ended_ = true;
      FinishIfDone();
      return;
    }
    if (request_.has_tensor()) alpha_ = request_.has_alpha() ? request_.alpha() : 1.0F;
    const grpc::Status status = Apply(request_, alpha_, waiting_.emplace_back());
    if (!status.ok()) {
      finished_ = true;
      Finish(status);
      return;
    }
    WriteNext();
    ReadNext();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    waiting_.pop_front();
    if (!ok) input_ended_ = true;
    WriteNext();
    if (!reading_) ReadNext();
    FinishIfDone();
  }

  void OnDone() override { delete this; }

 private:
  static constexpr std::size_t kReadAhead = 3;

  void ReadNext() {
    reading_ = waiting_.size() <= kReadAhead && !input_ended_;
    if (reading_) StartRead(&request_);
  }
  void WriteNext() {
    if (writing_ || waiting_.empty() || finished_) return;
    writing_ = true;
    StartWrite(&waiting_.front());
  }
  void FinishIfDone() {
    if (!input_ended_ || writing_ || finished_) return;
    finished_ = true;
    Finish(grpc::Status::OK);
  }

  std::mutex mutex_;
  v1::ApplyRequest request_;
  std::deque<v1::ApplyResponse> waiting_;  // the first is being written
  float alpha_ = 1.0F;
  bool reading_ = true;
  bool writing_ = false;
  bool input_ended_ = false;
  bool finished_ = false;
};

class Service final : public v1::ThresholdedRelu::CallbackService {
 public:
  grpc::ServerUnaryReactor* Apply(grpc::CallbackServerContext* context,
                                  const v1::ApplyRequest* request,
                                  v1::ApplyResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(
        benchmark::Apply(*request, request->has_alpha() ? request->alpha() : 1.0F, *response));
    return reactor;
  }

  grpc::ServerBidiReactor<v1::ApplyRequest, v1::ApplyResponse>* ApplyStream(
      grpc::CallbackServerContext*) override {
    return new StreamReactor;
  }
};

class CallbackServer final : public Handlers {
 public:
  void Register(const server::Options&, grpc::ServerBuilder& builder) override {
    builder.SetMaxReceiveMessageSize(-1);
    builder.SetMaxSendMessageSize(-1);
    builder.RegisterService(&service_);
  }

 private:
  Service service_;
};

}  // namespace
}  // namespace trelu::benchmark

int main(int argc, char** argv) {
  trelu::benchmark::CallbackServer server;
  return trelu::benchmark::ServeContender(argc, argv, server);
}
