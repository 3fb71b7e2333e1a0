#include "tests/support/fake_server.h"

#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "core/thresholded_relu.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "trelu/dtype.h"
#include "trelu/v1/trelu.grpc.pb.h"

namespace trelu::testing {
namespace {

// Replaces the elements by the operator's result.
void Compute(DType dtype, float alpha, std::string& bytes) {
  auto* data = reinterpret_cast<std::byte*>(bytes.data());
  ThresholdedRelu(dtype, alpha).Apply({data, bytes.size()}, data);
}

// One stream's tensor: bytes in as they come, result bytes out as far as they are known.
class StreamedTensor {
 public:
  void Add(const v1::ApplyRequest& request) {
    if (request.has_tensor()) {
      spec_ = request.tensor();
      alpha_ = request.has_alpha() ? request.alpha() : 1.0F;
    }
    arrived_ += request.data();
    const DType dtype = *DTypeFromOnnx(spec_.dtype());
    std::string whole = arrived_.substr(0, arrived_.size() - arrived_.size() % ElementBytes(dtype));
    arrived_.erase(0, whole.size());
    Compute(dtype, alpha_, whole);
    results_ += whole;
  }

  // The next answer of at most `bytes` bytes.
  v1::ApplyResponse Take(std::size_t bytes) {
    v1::ApplyResponse response;
    if (!std::exchange(begun_, true)) *response.mutable_tensor() = spec_;
    response.set_data(results_.substr(0, bytes));
    results_.erase(0, bytes);
    return response;
  }

  std::size_t result_bytes() const { return results_.size(); }
  bool begun() const { return begun_; }

 private:
  v1::TensorSpec spec_;
  float alpha_ = 1;
  std::string arrived_;
  std::string results_;
  bool begun_ = false;
};

}  // namespace

void Gate::Open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

bool Gate::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return open_; });
}

class FakeServer::ApplyService final : public v1::ThresholdedRelu::Service {
 public:
  grpc::Status Apply(grpc::ServerContext* context, const v1::ApplyRequest* request,
                     v1::ApplyResponse* response) override {
    const Try current = Arrive(*context);
    if (current.fails) return Failure(*context, current.script);
    *response->mutable_tensor() = request->tensor();
    *response->mutable_data() = request->data();
    Compute(*DTypeFromOnnx(request->tensor().dtype()),
            request->has_alpha() ? request->alpha() : 1.0F, *response->mutable_data());
    if (current.script.distort) current.script.distort(*response);
    return grpc::Status::OK;
  }

  grpc::Status ApplyStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ApplyResponse, v1::ApplyRequest>* stream) override {
    const Try current = Arrive(*context);
    const Script& script = current.script;
    const std::size_t most = script.answer_bytes == 0 ? std::string::npos : script.answer_bytes;
    StreamedTensor tensor;
    v1::ApplyRequest request;
    int messages = 0;
    int answers = 0;
    const auto answer = [&] {
      v1::ApplyResponse response = tensor.Take(most);
      if (script.distort) script.distort(response);
      stream->Write(response);
      ++answers;
    };
    while (stream->Read(&request)) {
      if (current.fails && messages++ == script.failure_after_messages) {
        return Failure(*context, script);
      }
      tensor.Add(request);
      while (tensor.result_bytes() >=
             std::min(most, std::max<std::size_t>(tensor.result_bytes(), 1))) {
        if (answers == script.answers) return grpc::Status::OK;
        answer();
      }
    }
    while (tensor.result_bytes() > 0 || !tensor.begun()) {
      if (answers == script.answers) return grpc::Status::OK;
      answer();
    }
    return current.fails ? Failure(*context, script) : grpc::Status::OK;
  }

  void SetScript(Script script) {
    const std::lock_guard lock(mutex_);
    script_ = std::move(script);
    failures_left_ = script_.failures;
  }

  void WaitForTries(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tries_ >= count; });
  }

  int tries() const {
    const std::lock_guard lock(mutex_);
    return tries_;
  }

  std::set<std::string> peers() const {
    const std::lock_guard lock(mutex_);
    return peers_;
  }

 private:
  struct Try {
    Script script;
    bool fails;
  };

  Try Arrive(grpc::ServerContext& context) {
    Try current;
    {
      const std::lock_guard lock(mutex_);
      ++tries_;
      peers_.insert(context.peer());
      current = {.script = script_, .fails = failures_left_ > 0};
      if (current.fails) --failures_left_;
    }
    changed_.notify_all();
    if (current.script.gate != nullptr) {
      // The synchronous service has no notice of cancellation to wait for.
      while (!context.IsCancelled() &&
             !current.script.gate->WaitFor(std::chrono::milliseconds(10))) {
      }
    }
    return current;
  }

  static grpc::Status Failure(grpc::ServerContext& context, const Script& script) {
    if (script.push_back.has_value()) {
      context.AddTrailingMetadata("grpc-retry-pushback-ms", *script.push_back);
    }
    return {script.failure, "as the script says"};
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Script script_;
  int failures_left_ = 0;
  int tries_ = 0;
  std::set<std::string> peers_;
};

class FakeServer::InfoService final : public v1::Server::Service {
 public:
  explicit InfoService(std::string shared_memory_prefix)
      : shared_memory_prefix_(std::move(shared_memory_prefix)) {}

 private:
  grpc::Status GetInfo(grpc::ServerContext* /*context*/, const v1::GetInfoRequest* /*request*/,
                       v1::GetInfoResponse* response) override {
    response->set_version("1.2.3");
    response->set_uptime_seconds(4.5);
    response->set_kernel_level("baseline");
    response->set_workers(6);
    response->set_inline_bytes(7);
    response->set_max_message_bytes(8);
    response->set_max_inflight_bytes(9);
    response->add_dtypes(v1::DATA_TYPE_FLOAT);
    response->add_dtypes(static_cast<v1::DataType>(99));
    response->add_dtypes(v1::DATA_TYPE_BFLOAT16);
    response->set_shared_memory_prefix(shared_memory_prefix_);
    return grpc::Status::OK;
  }

  const std::string shared_memory_prefix_;
};

class FakeServer::HealthService final : public grpc::health::v1::Health::Service {
  grpc::Status Check(grpc::ServerContext* /*context*/,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override {
    using grpc::health::v1::HealthCheckResponse;
    if (request->service() == "unknown") return {grpc::StatusCode::NOT_FOUND, "no such service"};
    response->set_status(request->service() == "draining" ? HealthCheckResponse::NOT_SERVING
                                                          : HealthCheckResponse::SERVING);
    return grpc::Status::OK;
  }
};

FakeServer::FakeServer() : FakeServer(Options()) {}

FakeServer::FakeServer(const Options& options)
    : listen_(options.listen),
      apply_(std::make_unique<ApplyService>()),
      info_(std::make_unique<InfoService>(options.shared_memory_prefix)),
      health_(std::make_unique<HealthService>()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options.listen, options.credentials, &port_);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(apply_.get());
  builder.RegisterService(info_.get());
  builder.RegisterService(health_.get());
  if (options.further != nullptr) builder.RegisterService(options.further);
  server_ = builder.BuildAndStart();
}

FakeServer::~FakeServer() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

std::string FakeServer::target() const {
  if (listen_.starts_with("unix:")) return listen_;
  return "127.0.0.1:" + std::to_string(port_);
}

void FakeServer::SetScript(Script script) { apply_->SetScript(std::move(script)); }
void FakeServer::WaitForTries(int count) { apply_->WaitForTries(count); }
int FakeServer::tries() const { return apply_->tries(); }
std::set<std::string> FakeServer::peers() const { return apply_->peers(); }

}  // namespace trelu::testing
