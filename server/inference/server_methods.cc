#include "server/inference/server_methods.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "inference/open_inference.pb.h"
#include "server/log.h"
#include "server/version.h"

namespace trelu::server {
namespace {

using inference::LogSettingsRequest;
using inference::LogSettingsResponse;
using inference::ServerLiveRequest;
using inference::ServerLiveResponse;
using inference::ServerMetadataRequest;
using inference::ServerMetadataResponse;
using inference::ServerReadyRequest;
using inference::ServerReadyResponse;
using inference::TraceSettingRequest;
using inference::TraceSettingResponse;

ServerMetadataResponse Metadata(const InferenceRooms& rooms) {
  ServerMetadataResponse response;
  response.set_name("trelu");
  response.set_version(kVersion);
  for (const char* extension : {"binary_tensor_data", "model_configuration", "parameters",
                                "schedule_policy", "statistics"}) {
    response.add_extensions(extension);
  }
  if (rooms.repository != nullptr) response.add_extensions("model_repository");
  if (rooms.shared_memory.enabled()) response.add_extensions("system_shared_memory");
  return response;
}

LogSettingsResponse LogSettingsOf(const Options& options) {
  LogSettingsResponse response;
  auto& settings = *response.mutable_settings();
  settings["log_info"].set_bool_param(true);
  settings["log_warning"].set_bool_param(true);
  settings["log_error"].set_bool_param(true);
  settings["log_verbose_level"].set_uint32_param(0);
  settings["log_format"].set_string_param(options.log_format == LogFormat::kJson ? "json" : "text");
  return response;
}

TraceSettingResponse TraceSettings() {
  TraceSettingResponse response;
  (*response.mutable_settings())["trace_level"].add_value("OFF");
  return response;
}

// UNIMPLEMENTED, with `instead`, unless every setting that is asked for is as it is; no value asks
// for the default.
template <typename Asked, typename Is>
absl::Status CheckUnchanged(const Asked& asked, const Is& is, const char* instead) {
  for (const auto& [name, value] : asked) {
    const auto current = is.find(name);
    // The messages of question and answer have the same fields.
    const std::string bytes = value.SerializeAsString();
    const bool same =
        bytes.empty() || (current != is.end() && bytes == current->second.SerializeAsString());
    if (!same) {
      return absl::UnimplementedError(
          absl::StrCat("settings[", Quoted(name), "]: cannot be changed; ", instead));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddServerMethods(SmallMethods& methods, const Options& options, const InferenceRooms& rooms) {
  methods.Add<ServerLiveRequest, ServerLiveResponse>("ServerLive", [](const ServerLiveRequest&) {
    ServerLiveResponse response;
    response.set_live(true);
    return response;
  });
  methods.Add<ServerReadyRequest, ServerReadyResponse>("ServerReady",
                                                       [&rooms](const ServerReadyRequest&) {
                                                         ServerReadyResponse response;
                                                         response.set_ready(rooms.serving());
                                                         return response;
                                                       });
  methods.Add<ServerMetadataRequest, ServerMetadataResponse>(
      "ServerMetadata", [&rooms](const ServerMetadataRequest&) { return Metadata(rooms); });
  methods.Add<LogSettingsRequest, LogSettingsResponse>(
      "LogSettings",
      [&options](const LogSettingsRequest& request) -> absl::StatusOr<LogSettingsResponse> {
        LogSettingsResponse response = LogSettingsOf(options);
        absl::Status unchanged =
            CheckUnchanged(request.settings(), response.settings(),
                           "the log is set up at the start, by --log-format and --log-calls");
        if (!unchanged.ok()) return unchanged;
        return response;
      });
  methods.Add<TraceSettingRequest, TraceSettingResponse>(
      "TraceSetting",
      [&rooms](const TraceSettingRequest& request) -> absl::StatusOr<TraceSettingResponse> {
        if (!request.model_name().empty()) {
          const auto model = rooms.models.Find(request.model_name(), "");
          if (!model.ok()) return model.status();
        }
        TraceSettingResponse response = TraceSettings();
        absl::Status unchanged =
            CheckUnchanged(request.settings(), response.settings(), "the server does not trace");
        if (!unchanged.ok()) return unchanged;
        return response;
      });
}

}  // namespace trelu::server
