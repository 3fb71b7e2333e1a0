#include "client/shared_memory/local_server.h"

#include <chrono>
#include <utility>

#include "client/small_call.h"
#include "inference/open_inference.grpc.pb.h"

namespace trelu {
namespace {

using inference::GRPCInferenceService;
using inference::SystemSharedMemoryUnregisterRequest;
using inference::SystemSharedMemoryUnregisterResponse;

constexpr std::chrono::seconds kUnregistering{1};

SystemSharedMemoryUnregisterRequest UnregisterRequest(const std::string& name) {
  SystemSharedMemoryUnregisterRequest request;
  request.set_name(name);
  return request;
}

}  // namespace

LocalServer::LocalServer(RegionCall::NextChannel next_channel,
                         std::function<RetrySchedule()> new_schedule, AsyncCalls& async_calls)
    : next_channel_(std::move(next_channel)),
      new_schedule_(std::move(new_schedule)),
      async_calls_(async_calls),
      registrations_(
          std::make_shared<Registrations>([this](const std::string& name) { Unregister(name); })),
      pool_(registrations_) {}

LocalServer::~LocalServer() {
  buffers_->Forget();
  const Deadline deadline = Deadline::After(kUnregistering);
  for (const std::string& name : registrations_->names()) {
    grpc::ClientContext context;
    deadline.ApplyTo(context);
    SystemSharedMemoryUnregisterResponse response;
    // A server that does not answer one will not answer the others.
    if (!GRPCInferenceService::NewStub(next_channel_())
             ->SystemSharedMemoryUnregister(&context, UnregisterRequest(name), &response)
             .ok()) {
      break;
    }
  }
}

void LocalServer::Unregister(const std::string& name) {
  async_calls_.Start(std::make_unique<SmallCall<SystemSharedMemoryUnregisterResponse>>(
                         Deadline::After(kUnregistering), new_schedule_(),
                         [this, name](grpc::ClientContext& context, grpc::CompletionQueue& queue) {
                           return GRPCInferenceService::NewStub(next_channel_())
                               ->PrepareAsyncSystemSharedMemoryUnregister(
                                   &context, UnregisterRequest(name), &queue);
                         },
                         [this, name](const SystemSharedMemoryUnregisterResponse&) {
                           registrations_->Gone(name);
                         }),
                     [](const absl::Status&) {});
}

std::unique_ptr<Call> LocalServer::MakeCall(Deadline deadline, const TensorSpec& spec,
                                            std::span<const std::byte> x, std::span<std::byte> y,
                                            std::optional<float> alpha,
                                            LocalCall::Ordinary ordinary) {
  TensorPlaces places = {
      .x = x, .y = y, .x_shared = buffers_->Find(x), .y_shared = buffers_->Find(y)};
  return std::make_unique<LocalCall>(deadline, new_schedule_(), next_channel_, pool_, spec, alpha,
                                     std::move(places), std::move(ordinary));
}

std::unique_ptr<SharedBuffer> LocalServer::NewBuffer(std::size_t bytes) {
  RegionCall call(Deadline::After(std::chrono::milliseconds::zero()), new_schedule_(),
                  next_channel_, pool_, bytes);
  if (!RunHere(call).ok()) return nullptr;
  return buffers_->Wrap(call.TakeRegion(), bytes);
}

}  // namespace trelu
