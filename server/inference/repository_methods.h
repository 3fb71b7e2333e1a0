// What a client can do with the model repository.
#ifndef TRELU_SERVER_INFERENCE_REPOSITORY_METHODS_H_
#define TRELU_SERVER_INFERENCE_REPOSITORY_METHODS_H_

#include "server/inference/inference_service.h"
#include "server/small_methods.h"

namespace trelu::server {

// Adds RepositoryIndex, RepositoryModelLoad and RepositoryModelUnload. `rooms` outlives `methods`.
void AddRepositoryMethods(SmallMethods& methods, const InferenceRooms& rooms);

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_REPOSITORY_METHODS_H_
