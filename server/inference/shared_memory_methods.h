// What a client can do with shared memory regions.
#ifndef TRELU_SERVER_INFERENCE_SHARED_MEMORY_METHODS_H_
#define TRELU_SERVER_INFERENCE_SHARED_MEMORY_METHODS_H_

#include "server/shared_memory/shared_memory.h"
#include "server/small_methods.h"

namespace trelu::server {

// Adds SystemSharedMemory- and CudaSharedMemory-Status, -Register and -Unregister. There is no CUDA
// memory: to unregister all of it is done, the rest is UNIMPLEMENTED.
// `shared_memory` outlives `methods`.
void AddSharedMemoryMethods(SmallMethods& methods, SharedMemory& shared_memory);

}  // namespace trelu::server

#endif  // TRELU_SERVER_INFERENCE_SHARED_MEMORY_METHODS_H_
