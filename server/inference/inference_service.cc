#include "server/inference/inference_service.h"

#include <utility>

#include "inference/open_inference.pb.h"
#include "server/inference/model_methods.h"
#include "server/inference/repository_methods.h"
#include "server/inference/server_methods.h"
#include "server/inference/shared_memory_methods.h"

namespace trelu::server {

InferenceService::InferenceService(Corridor& corridor, InferenceRooms rooms)
    : corridor_(corridor),
      rooms_(std::move(rooms)),
      service_(*inference::ModelInferRequest::descriptor()->file()->FindServiceByName(
                   "GRPCInferenceService"),
               corridor.metrics),
      methods_(corridor, service_),
      model_infer_(service_.Add("ModelInfer")),
      model_stream_infer_(service_.Add("ModelStreamInfer")),
      begin_model_stream_infer_([this](CallScope& call, const grpc::ServerContext& context) {
        return BeginModelStreamInfer(call, context);
      }) {
  AddServerMethods(methods_, corridor_.options, rooms_);
  AddModelMethods(methods_, rooms_);
  AddRepositoryMethods(methods_, rooms_);
  AddSharedMemoryMethods(methods_, rooms_.shared_memory);
}

void InferenceService::Accept(EventQueue& queue) {
  methods_.Accept(queue);
  for (int i = 0; i < kWaitingCalls; ++i) {
    ModelInfer(queue);
    ServeStream(corridor_, service_, model_stream_infer_, begin_model_stream_infer_, queue);
  }
}

}  // namespace trelu::server
