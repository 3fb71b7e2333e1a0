#include "client/command/info_report.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <array>
#include <utility>
#include <vector>

#include "client/command/bench/quantities.h"
#include "client/command/json_writer.h"

namespace trelu::command {
namespace {

std::vector<std::string> DTypeNames(const ServerInfo& server) {
  std::vector<std::string> names;
  for (const DType dtype : server.dtypes) names.emplace_back(Name(dtype));
  return names;
}

// "2d 3h 4m", from the largest unit that is not zero on; below a minute "12.3s".
std::string FormatUptime(std::chrono::duration<double> uptime) {
  // What a server says may be any number.
  if (!(uptime.count() >= 0 && uptime.count() < 1e9)) return "unknown";
  if (uptime.count() < 60) return absl::StrFormat("%.1fs", uptime.count());
  constexpr std::int64_t kMinutesADay = std::int64_t{24} * 60;
  const auto minutes = static_cast<std::int64_t>(uptime.count() / 60);
  std::string text;
  if (minutes >= kMinutesADay) absl::StrAppend(&text, minutes / kMinutesADay, "d ");
  if (minutes >= 60) absl::StrAppend(&text, minutes / 60 % 24, "h ");
  return absl::StrCat(text, minutes % 60, "m");
}

std::string SharedMemoryOf(const ServerInfo& server) {
  const std::string& prefix = server.shared_memory_prefix;
  if (prefix.empty()) return "off";
  return prefix == "/" ? "of any name"
                       : absl::StrCat("names begin with ", absl::CHexEscape(prefix));
}

}  // namespace

std::string FormatInfo(const InfoReport& report) {
  const ServerInfo& server = report.server;
  const std::vector<std::pair<const char*, std::string>> lines = {
      {"target", report.target},
      {"health", report.health},
      {"version", absl::CHexEscape(server.version)},
      {"uptime", FormatUptime(server.uptime)},
      {"round trip", FormatDuration(report.round_trip)},
      {"kernel", absl::CHexEscape(server.kernel_level)},
      {"workers",
       absl::StrCat(server.workers, ", for tensors above ", FormatBytes(server.inline_bytes))},
      {"dtypes", absl::StrJoin(DTypeNames(server), ", ")},
      {"largest message", FormatBytes(server.max_message_bytes)},
      {"bytes in flight", absl::StrCat("at most ", FormatBytes(server.max_inflight_bytes))},
      {"shared memory", SharedMemoryOf(server)},
      {"client version", report.client_version},
  };
  std::string text;
  for (const auto& [name, value] : lines) absl::StrAppendFormat(&text, "%-17s%s\n", name, value);
  return text;
}

std::string ToJson(const InfoReport& report) {
  const ServerInfo& server = report.server;
  JsonWriter json;
  json.String("target", report.target);
  json.String("health", report.health);
  json.String("version", server.version);
  json.Number("uptime_seconds", server.uptime.count());
  json.Number("round_trip_us",
              std::chrono::duration<double, std::micro>(report.round_trip).count());
  json.String("kernel_level", server.kernel_level);
  json.Integer("workers", server.workers);
  json.Integer("inline_bytes", server.inline_bytes);
  json.Array("dtypes");
  for (const std::string& name : DTypeNames(server)) json.String("", name);
  json.End();
  json.Integer("max_message_bytes", server.max_message_bytes);
  json.Integer("max_inflight_bytes", server.max_inflight_bytes);
  json.String("shared_memory_prefix", server.shared_memory_prefix);
  json.String("client_version", report.client_version);
  return json.Finish();
}

}  // namespace trelu::command
