// The Open Inference face: inference.GRPCInferenceService, KServe's protocol version 2 with
// Triton's extensions, on the same corridor as the native face.
#ifndef TRELU_SERVER_INFERENCE_INFERENCE_SERVICE_H_
#define TRELU_SERVER_INFERENCE_INFERENCE_SERVICE_H_

#include <functional>
#include <memory>

#include "server/corridor.h"
#include "server/event_queue.h"
#include "server/models/model_catalog.h"
#include "server/models/model_repository.h"
#include "server/raw_service.h"
#include "server/shared_memory/shared_memory.h"
#include "server/small_methods.h"
#include "server/stream_call.h"
#include "server/task.h"

namespace trelu::server {

// What the face shows, beside the corridor. Outlives it.
struct InferenceRooms {
  ModelCatalog& models;
  ModelRepository* repository;  // null: none
  SharedMemory& shared_memory;
  std::function<bool()> serving;
};

class InferenceService {
 public:
  InferenceService(Corridor& corridor, InferenceRooms rooms);

  // For ServerBuilder::RegisterService.
  grpc::Service& service() { return service_; }

  // Begins to take calls from `queue`, on its thread, after the server has started.
  void Accept(EventQueue& queue);

 private:
  // Waits for one call, arms its successor, and serves the call to its end.
  Task ModelInfer(EventQueue& queue);
  std::unique_ptr<Conversation> BeginModelStreamInfer(CallScope& call,
                                                      const grpc::ServerContext& context) const;

  Corridor& corridor_;
  const InferenceRooms rooms_;
  RawService service_;
  SmallMethods methods_;
  const Method& model_infer_;
  const Method& model_stream_infer_;
  const BeginConversation begin_model_stream_infer_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_INFERENCE_SERVICE_H_
