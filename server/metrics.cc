#include "server/metrics.h"

#include <grpcpp/grpcpp.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "server/process_metrics.h"
#include "server/sharded_counters.h"
#include "server/sharded_histogram.h"
#include "server/version.h"

namespace trelu::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kSecondsPerNanosecond = 1e-9;

// By number, spelt as the other gRPC libraries' exporters spell them.
constexpr std::array<const char*, 17> kCodeNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};
constexpr std::size_t kUnknownCode = 2;

// By Rejection.
constexpr std::array<const char*, 7> kRejectionNames = {
    "invalid", "too_large", "over_budget", "draining", "deadline", "cancelled", "idle"};

std::uint64_t Nanoseconds(std::chrono::nanoseconds duration) {
  return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
}

template <typename Number>
ClientMetric CounterMetric(std::vector<ClientMetric::Label> labels, Number value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = static_cast<double>(value);
  return metric;
}

ClientMetric GaugeMetric(std::vector<ClientMetric::Label> labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

ClientMetric HistogramMetric(std::vector<ClientMetric::Label> labels,
                             const ShardedHistogram& histogram) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.histogram = histogram.Fold();
  return metric;
}

}  // namespace

struct MethodMetrics::State {
  std::vector<ClientMetric::Label> labels;
  // One for each code, and the calls that started.
  ShardedCounters<kCodeNames.size() + 1> counters;
  static constexpr std::size_t kStarted = kCodeNames.size();
  ShardedHistogram handling{DurationBounds(), kSecondsPerNanosecond};
};

MethodMetrics::MethodMetrics(std::string type, std::string service, std::string method)
    : state_(std::make_unique<State>()) {
  state_->labels = {{"grpc_type", std::move(type)},
                    {"grpc_service", std::move(service)},
                    {"grpc_method", std::move(method)}};
}

MethodMetrics::~MethodMetrics() = default;

void MethodMetrics::Started() { state_->counters.Add(State::kStarted); }

void MethodMetrics::Handled(grpc::StatusCode code, std::chrono::nanoseconds handling) {
  const auto number = static_cast<std::size_t>(code);
  state_->counters.Add(number < kCodeNames.size() ? number : kUnknownCode);
  state_->handling.Observe(Nanoseconds(handling));
}

struct Metrics::State {
  struct Gauge {
    std::string name;
    std::string help;
    std::function<double()> read;
  };
  std::vector<std::unique_ptr<MethodMetrics>> methods;
  struct Counters {
    std::string name;
    std::string help;
    std::string label;
    std::function<std::vector<double>()> read;
  };
  std::vector<Gauge> gauges;
  std::vector<Counters> counters;
  ShardedHistogram kernel{DurationBounds(), kSecondsPerNanosecond};
  ShardedHistogram queue{DurationBounds(), kSecondsPerNanosecond};
  ShardedHistogram request_bytes{ByteBounds(), 1};
  ShardedCounters<1> response_bytes;
  ShardedCounters<kRejectionNames.size()> rejected;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}

Metrics::~Metrics() = default;

MethodMetrics& Metrics::AddMethod(std::string type, std::string service, std::string method) {
  return *state_->methods.emplace_back(
      std::make_unique<MethodMetrics>(std::move(type), std::move(service), std::move(method)));
}

void Metrics::AddGauge(std::string name, std::string help, std::function<double()> read) {
  state_->gauges.push_back({std::move(name), std::move(help), std::move(read)});
}

void Metrics::AddCounters(std::string name, std::string help, std::string label,
                          std::function<std::vector<double>()> read) {
  state_->counters.push_back({std::move(name), std::move(help), std::move(label), std::move(read)});
}

void Metrics::Kernel(std::chrono::nanoseconds duration) {
  state_->kernel.Observe(Nanoseconds(duration));
}

void Metrics::Queue(std::chrono::nanoseconds duration) {
  state_->queue.Observe(Nanoseconds(duration));
}

void Metrics::RequestBytes(std::uint64_t bytes) { state_->request_bytes.Observe(bytes); }

void Metrics::ResponseBytes(std::uint64_t bytes) { state_->response_bytes.Add(0, bytes); }

void Metrics::Rejected(Rejection reason) { state_->rejected.Add(static_cast<std::size_t>(reason)); }

std::vector<MetricFamily> Metrics::Collect() const {
  MetricFamily started{"grpc_server_started_total", "Calls that began.", MetricType::Counter, {}};
  MetricFamily handled{
      "grpc_server_handled_total", "Calls that ended, by status code.", MetricType::Counter, {}};
  MetricFamily handling{"grpc_server_handling_seconds",
                        "Time from when a call is taken up to the end of its last operation.",
                        MetricType::Histogram,
                        {}};
  for (const std::unique_ptr<MethodMetrics>& method : state_->methods) {
    const MethodMetrics::State& state = *method->state_;
    // Ended before started, so that a scrape never shows more ends than beginnings.
    for (std::size_t code = 0; code < kCodeNames.size(); ++code) {
      const std::uint64_t count = state.counters.Sum(code);
      if (count == 0 && code != 0) continue;
      std::vector<ClientMetric::Label> labels = state.labels;
      labels.push_back({"grpc_code", kCodeNames[code]});
      handled.metric.push_back(CounterMetric(std::move(labels), count));
    }
    handling.metric.push_back(HistogramMetric(state.labels, state.handling));
    started.metric.push_back(
        CounterMetric(state.labels, state.counters.Sum(MethodMetrics::State::kStarted)));
  }
  MetricFamily rejected{"trelu_rejected_total",
                        "Requests that were turned away, by reason.",
                        MetricType::Counter,
                        {}};
  for (std::size_t reason = 0; reason < kRejectionNames.size(); ++reason) {
    rejected.metric.push_back(
        CounterMetric({{"reason", kRejectionNames[reason]}}, state_->rejected.Sum(reason)));
  }
  std::vector<MetricFamily> families;
  // A family without series would be a heading without text.
  if (!state_->methods.empty()) {
    families = {std::move(started), std::move(handled), std::move(handling)};
  }
  const auto histogram = [&](const char* name, const char* help, const ShardedHistogram& values) {
    families.push_back({name, help, MetricType::Histogram, {HistogramMetric({}, values)}});
  };
  histogram("trelu_kernel_seconds", "Time spent computing a tensor or message.", state_->kernel);
  histogram("trelu_queue_seconds", "Time waited for a worker.", state_->queue);
  histogram("trelu_request_bytes", "Payload of a tensor or message.", state_->request_bytes);
  families.push_back({"trelu_response_bytes_total",
                      "Payload of answers.",
                      MetricType::Counter,
                      {CounterMetric({}, state_->response_bytes.Sum(0))}});
  families.push_back(std::move(rejected));
  for (const State::Gauge& gauge : state_->gauges) {
    families.push_back(
        {gauge.name, gauge.help, MetricType::Gauge, {GaugeMetric({}, gauge.read())}});
  }
  for (const State::Counters& counters : state_->counters) {
    MetricFamily family{counters.name, counters.help, MetricType::Counter, {}};
    for (const double value : counters.read()) {
      family.metric.push_back(
          CounterMetric({{counters.label, std::to_string(family.metric.size())}}, value));
    }
    families.push_back(std::move(family));
  }
  families.push_back({"trelu_build_info",
                      "Always 1; its labels say what is running.",
                      MetricType::Gauge,
                      {GaugeMetric({{"version", kVersion}, {"grpc", grpc::Version()}}, 1)}});
  for (MetricFamily& family : CollectProcessMetrics()) families.push_back(std::move(family));
  return families;
}

}  // namespace trelu::server
