#include "server/inference/shared_memory_methods.h"

#include "inference/open_inference.pb.h"

namespace trelu::server {
namespace {

using inference::CudaSharedMemoryRegisterRequest;
using inference::CudaSharedMemoryRegisterResponse;
using inference::CudaSharedMemoryStatusRequest;
using inference::CudaSharedMemoryStatusResponse;
using inference::CudaSharedMemoryUnregisterRequest;
using inference::CudaSharedMemoryUnregisterResponse;
using inference::SystemSharedMemoryRegisterRequest;
using inference::SystemSharedMemoryRegisterResponse;
using inference::SystemSharedMemoryStatusRequest;
using inference::SystemSharedMemoryStatusResponse;
using inference::SystemSharedMemoryUnregisterRequest;
using inference::SystemSharedMemoryUnregisterResponse;

absl::Status NoCuda() {
  return absl::UnimplementedError("CUDA shared memory: the server has no GPU");
}

absl::StatusOr<SystemSharedMemoryStatusResponse> Status(
    const SharedMemory& shared_memory, const SystemSharedMemoryStatusRequest& request) {
  const auto regions = shared_memory.Status(request.name());
  if (!regions.ok()) return regions.status();
  SystemSharedMemoryStatusResponse response;
  for (const RegionStatus& region : *regions) {
    auto& shown = (*response.mutable_regions())[region.name];
    shown.set_name(region.name);
    shown.set_key(region.key);
    shown.set_offset(region.offset);
    shown.set_byte_size(region.byte_size);
  }
  return response;
}

}  // namespace

void AddSharedMemoryMethods(SmallMethods& methods, SharedMemory& shared_memory) {
  methods.Add<SystemSharedMemoryStatusRequest, SystemSharedMemoryStatusResponse>(
      "SystemSharedMemoryStatus",
      [&shared_memory](const auto& request) { return Status(shared_memory, request); });
  // To map and to unmap large objects takes the kernel a while.
  methods.Add<SystemSharedMemoryRegisterRequest, SystemSharedMemoryRegisterResponse>(
      "SystemSharedMemoryRegister",
      [&shared_memory](const auto& request) -> absl::StatusOr<SystemSharedMemoryRegisterResponse> {
        absl::Status registered = shared_memory.Register(request.name(), request.key(),
                                                         request.offset(), request.byte_size());
        if (!registered.ok()) return registered;
        return SystemSharedMemoryRegisterResponse();
      },
      SmallMethods::Where::kChores);
  methods.Add<SystemSharedMemoryUnregisterRequest, SystemSharedMemoryUnregisterResponse>(
      "SystemSharedMemoryUnregister",
      [&shared_memory](
          const auto& request) -> absl::StatusOr<SystemSharedMemoryUnregisterResponse> {
        absl::Status unregistered = shared_memory.Unregister(request.name());
        if (!unregistered.ok()) return unregistered;
        return SystemSharedMemoryUnregisterResponse();
      },
      SmallMethods::Where::kChores);
  methods.Add<CudaSharedMemoryStatusRequest, CudaSharedMemoryStatusResponse>(
      "CudaSharedMemoryStatus",
      [](const auto&) -> absl::StatusOr<CudaSharedMemoryStatusResponse> { return NoCuda(); });
  methods.Add<CudaSharedMemoryRegisterRequest, CudaSharedMemoryRegisterResponse>(
      "CudaSharedMemoryRegister",
      [](const auto&) -> absl::StatusOr<CudaSharedMemoryRegisterResponse> { return NoCuda(); });
  methods.Add<CudaSharedMemoryUnregisterRequest, CudaSharedMemoryUnregisterResponse>(
      "CudaSharedMemoryUnregister",
      [](const auto& request) -> absl::StatusOr<CudaSharedMemoryUnregisterResponse> {
        // perf_analyzer clears everything before it begins, this too.
        if (!request.name().empty()) return NoCuda();
        return CudaSharedMemoryUnregisterResponse();
      });
}

}  // namespace trelu::server
