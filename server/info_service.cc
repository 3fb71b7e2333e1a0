#include "server/info_service.h"

#include <string>

#include "core/thresholded_relu.h"
#include "server/version.h"
#include "trelu/dtype.h"

namespace trelu::server {

InfoService::InfoService(Corridor& corridor)
    : corridor_(corridor),
      service_(*v1::GetInfoRequest::descriptor()->file()->FindServiceByName("Server"),
               corridor.metrics),
      methods_(corridor, service_) {
  methods_.Add<v1::GetInfoRequest, v1::GetInfoResponse>(
      "GetInfo", [this](const v1::GetInfoRequest&) { return GetInfo(); });
}

v1::GetInfoResponse InfoService::GetInfo() const {
  v1::GetInfoResponse info;
  info.set_version(kVersion);
  const auto uptime = std::chrono::steady_clock::now() - started_;
  info.set_uptime_seconds(std::chrono::duration<double>(uptime).count());
  info.set_kernel_level(std::string(Name(SupportedKernelLevels().back())));
  info.set_workers(static_cast<std::uint32_t>(corridor_.workers.width()));
  info.set_inline_bytes(corridor_.options.inline_bytes);
  info.set_max_message_bytes(corridor_.options.max_message_bytes);
  info.set_max_inflight_bytes(corridor_.options.max_inflight_bytes);
  info.set_shared_memory_prefix(corridor_.options.shared_memory_prefix);
  for (const DType dtype : kAllDTypes) info.add_dtypes(static_cast<v1::DataType>(dtype));
  return info;
}

}  // namespace trelu::server
