// What a client can ask about models: ready, metadata, configuration, statistics.
#ifndef TRELU_SERVER_INFERENCE_MODEL_METHODS_H_
#define TRELU_SERVER_INFERENCE_MODEL_METHODS_H_

#include "server/inference/inference_service.h"
#include "server/small_methods.h"

namespace trelu::server {

// Adds ModelReady, ModelMetadata, ModelConfig and ModelStatistics. `rooms` outlives `methods`.
void AddModelMethods(SmallMethods& methods, const InferenceRooms& rooms);

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_MODEL_METHODS_H_
