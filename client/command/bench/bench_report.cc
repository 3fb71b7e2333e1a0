#include "client/command/bench/bench_report.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <array>

#include "client/command/bench/quantities.h"
#include "client/command/json_writer.h"

namespace trelu::command {
namespace {

struct Quantile {
  const char* name;
  double share;
};
constexpr std::array<Quantile, 4> kQuantiles = {
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};

std::string ServerOf(const BenchSettings& settings) {
  if (!settings.server) return settings.target;
  return absl::StrFormat("%s (trelu %s, %s, %d worker%s)", settings.target,
                         absl::CHexEscape(settings.server->version),
                         absl::CHexEscape(settings.server->kernel_level), settings.server->workers,
                         settings.server->workers == 1 ? "" : "s");
}

std::string LoopOf(const LoadPlan& plan) {
  if (!plan.rate) return absl::StrCat("closed loop, ", plan.in_flight, " in flight");
  return absl::StrCat("open loop, ", *plan.rate, " requests/s (", Name(plan.arrivals),
                      "), at most ", plan.in_flight, " in flight");
}

double SecondsOf(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

void WriteLatencies(JsonWriter& json, const char* name, const LatencyRecorder& latency) {
  const auto microseconds = [](std::chrono::nanoseconds ns) {
    return std::chrono::duration<double, std::micro>(ns).count();
  };
  json.Object(name);
  json.Integer("count", latency.count());
  json.Number("min", microseconds(latency.min()));
  json.Number("mean", microseconds(latency.mean()));
  for (const Quantile& quantile : kQuantiles) {
    json.Number(quantile.name, microseconds(latency.Quantile(quantile.share)));
  }
  json.Number("max", microseconds(latency.max()));
  json.End();
}

void WriteSettings(JsonWriter& json, const BenchSettings& settings) {
  json.Object("settings");
  json.String("target", settings.target);
  json.String("client_version", settings.client_version);
  if (settings.server) {
    json.String("server_version", settings.server->version);
    json.String("kernel_level", settings.server->kernel_level);
    json.Integer("server_workers", settings.server->workers);
    json.Integer("inline_bytes", settings.server->inline_bytes);
  }
  json.String("mode", Name(settings.mode));
  json.String("dtype", std::string(Name(settings.dtype)));
  if (settings.alpha) json.Number("alpha", *settings.alpha);
  json.Integer("connections", static_cast<std::uint64_t>(settings.connections));
  json.Integer("retries", static_cast<std::uint64_t>(settings.retries));
  json.Integer("timeout_ms", static_cast<std::uint64_t>(settings.timeout.count()));
  const LoadPlan& plan = settings.plan;
  json.String("loop", plan.rate ? "open" : "closed");
  json.Integer("in_flight", plan.in_flight);
  if (plan.rate) {
    json.Number("rate_per_second", *plan.rate);
    json.String("arrivals", Name(plan.arrivals));
    json.Integer("seed", plan.seed);
  }
  json.Number("warmup_seconds", SecondsOf(plan.warmup));
  json.Number("duration_seconds", SecondsOf(plan.duration));
  json.Integer("max_requests", plan.max_requests);
  json.End();
}

void WriteRow(JsonWriter& json, const BenchSettings& settings, const BenchRow& row) {
  const LoadResult& load = row.load;
  json.Object("");
  json.Integer("bytes", row.spec.bytes());
  json.Array("shape");
  for (const std::int64_t dim : row.spec.shape().dims()) {
    json.Integer("", static_cast<std::uint64_t>(dim));
  }
  json.End();
  json.Integer("verified", row.verified);
  json.Number("window_seconds", SecondsOf(load.window));
  json.Integer("answered_in_window", load.tally.answered_in_window);
  json.Integer("failed", row.failed());
  json.Object("failures");
  for (const auto& [code, failures] : load.tally.failures) {
    json.Object(absl::StatusCodeToString(code));
    json.Integer("count", failures.count);
    json.String("first_message", failures.first_message);
    json.End();
  }
  json.End();
  json.Number("requests_per_second", row.requests_per_second());
  json.Number("bytes_per_second_each_way", row.bytes_per_second());
  WriteLatencies(json, "latency_us", load.tally.latency);
  if (settings.plan.rate) {
    WriteLatencies(json, "send_lateness_us", load.lateness);
    json.Integer("waited_for_slot", load.waited_for_slot);
    json.Integer("never_sent", load.never_sent);
  }
  json.Bool("interrupted", load.interrupted);
  json.Integer("abandoned", load.abandoned);
  json.End();
}

bool MayShare(const BenchSettings& settings) {
  return settings.mode == SendMode::kAuto && settings.server &&
         !settings.server->shared_memory_prefix.empty();
}

}  // namespace

std::string Name(SendMode mode) {
  switch (mode) {
    case SendMode::kUnary:
      return "unary";
    case SendMode::kStream:
      return "stream";
    case SendMode::kAuto:
      return "auto";
  }
  return "";
}

std::string Name(Arrivals arrivals) {
  return arrivals == Arrivals::kUniform ? "uniform" : "poisson";
}

double BenchRow::requests_per_second() const {
  const double seconds = SecondsOf(load.window);
  return seconds > 0 ? static_cast<double>(load.tally.answered_in_window) / seconds : 0;
}

double BenchRow::bytes_per_second() const {
  return requests_per_second() * static_cast<double>(spec.bytes());
}

std::uint64_t BenchRow::failed() const {
  std::uint64_t sum = 0;
  for (const auto& [code, failures] : load.tally.failures) sum += failures.count;
  return sum;
}

std::string FormatHead(const BenchSettings& settings) {
  const LoadPlan& plan = settings.plan;
  std::string head = absl::StrCat(
      "trelu bench ", ServerOf(settings), ": ", LoopOf(plan), ", ", settings.connections,
      settings.connections == 1 ? " connection, " : " connections, ", Name(settings.mode),
      MayShare(settings) ? " (shared memory allowed), " : ", ", std::string(Name(settings.dtype)),
      ", ", settings.alpha ? absl::StrCat("alpha ", *settings.alpha) : "default alpha", ", ",
      SecondsOf(plan.duration), " s after ", SecondsOf(plan.warmup), " s of warm-up\n\n");
  absl::StrAppendFormat(&head, "%9s %10s %8s %10s %10s", "size", "answered", "failed", "req/s",
                        "GB/s");
  for (const Quantile& quantile : kQuantiles) absl::StrAppendFormat(&head, " %8s", quantile.name);
  absl::StrAppendFormat(&head, " %8s\n%9s %10s %8s %10s %10s\n", "max", "", "", "", "", "each way");
  return head;
}

std::string FormatRow(const BenchSettings& settings, const BenchRow& row) {
  const LoadResult& load = row.load;
  const LatencyRecorder& latency = load.tally.latency;
  std::string text =
      absl::StrFormat("%9s %10d %8d %10.1f %10.4f", FormatBytes(row.spec.bytes()), latency.count(),
                      row.failed(), row.requests_per_second(), row.bytes_per_second() / 1e9);
  for (const Quantile& quantile : kQuantiles) {
    absl::StrAppendFormat(
        &text, " %8s",
        latency.count() == 0 ? "-" : FormatDuration(latency.Quantile(quantile.share)));
  }
  absl::StrAppendFormat(&text, " %8s\n",
                        latency.count() == 0 ? "-" : FormatDuration(latency.max()));
  for (const auto& [code, failures] : load.tally.failures) {
    absl::StrAppendFormat(&text, "          %d failed with %s: %s\n", failures.count,
                          absl::StatusCodeToString(code), absl::CHexEscape(failures.first_message));
  }
  if (settings.plan.rate && load.lateness.count() > 0) {
    absl::StrAppendFormat(&text, "          sent late by: p50 %s, p99 %s, max %s\n",
                          FormatDuration(load.lateness.Quantile(0.5)),
                          FormatDuration(load.lateness.Quantile(0.99)),
                          FormatDuration(load.lateness.max()));
  }
  if (load.waited_for_slot > 0) {
    absl::StrAppendFormat(&text,
                          "          %d requests waited while %d were in flight (--in-flight)\n",
                          load.waited_for_slot, settings.plan.in_flight);
  }
  if (load.never_sent > 0) {
    absl::StrAppendFormat(
        &text,
        "          the rate was not reached: %d requests never sent, latencies are a lower bound\n",
        load.never_sent);
  }
  if (load.interrupted) {
    absl::StrAppendFormat(&text, "          interrupted; %d requests abandoned\n", load.abandoned);
  }
  return text;
}

std::string ToJson(const BenchSettings& settings, const std::vector<BenchRow>& rows) {
  JsonWriter json;
  json.Integer("format", 1);
  WriteSettings(json, settings);
  json.Array("results");
  for (const BenchRow& row : rows) WriteRow(json, settings, row);
  json.End();
  return json.Finish();
}

}  // namespace trelu::command
