// What a client can ask about the server as a whole.
#ifndef TRELU_SERVER_INFERENCE_SERVER_METHODS_H_
#define TRELU_SERVER_INFERENCE_SERVER_METHODS_H_

#include "server/inference/inference_service.h"
#include "server/options.h"
#include "server/small_methods.h"

namespace trelu::server {

// Adds ServerLive, ServerReady, ServerMetadata, and the settings of log and trace, which can be
// read but not changed (UNIMPLEMENTED). `options` and `rooms` outlive `methods`.
void AddServerMethods(SmallMethods& methods, const Options& options, const InferenceRooms& rooms);

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_SERVER_METHODS_H_
