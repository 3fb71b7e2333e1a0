#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace trelu::server {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using testing::HasSubstr;
using testing::Not;

std::string Page(const Metrics& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.Collect());
}

constexpr char kLabels[] = R"(grpc_type="unary",grpc_service="s.S",grpc_method="M")";

std::string Series(const std::string& name, const std::string& more, const std::string& value) {
  return "\n" + name + "{" + kLabels + more + "} " + value + "\n";
}

TEST(MetricsTest, CountsCallsByCode) {
  Metrics metrics;
  MethodMetrics& method = metrics.AddMethod("unary", "s.S", "M");
  for (int i = 0; i < 3; ++i) method.Started();
  method.Handled(grpc::StatusCode::OK, microseconds(1));
  method.Handled(grpc::StatusCode::INVALID_ARGUMENT, microseconds(1));
  const std::string page = Page(metrics);
  EXPECT_THAT(page, HasSubstr(Series("grpc_server_started_total", "", "3")));
  EXPECT_THAT(page, HasSubstr(Series("grpc_server_handled_total", R"(,grpc_code="OK")", "1")));
  EXPECT_THAT(
      page, HasSubstr(Series("grpc_server_handled_total", R"(,grpc_code="InvalidArgument")", "1")));
}

TEST(MetricsTest, ShowsOkFromTheStartAndOtherCodesOnceSeen) {
  Metrics metrics;
  MethodMetrics& method = metrics.AddMethod("unary", "s.S", "M");
  EXPECT_THAT(Page(metrics),
              HasSubstr(Series("grpc_server_handled_total", R"(,grpc_code="OK")", "0")));
  EXPECT_THAT(Page(metrics), Not(HasSubstr("Unavailable")));
  method.Handled(grpc::StatusCode::UNAVAILABLE, nanoseconds(1));
  EXPECT_THAT(Page(metrics), HasSubstr(R"(grpc_code="Unavailable"} 1)"));
}

TEST(MetricsTest, CountsACodeThatDoesNotExistAsUnknown) {
  Metrics metrics;
  MethodMetrics& method = metrics.AddMethod("unary", "s.S", "M");
  method.Handled(grpc::StatusCode::DO_NOT_USE, nanoseconds(1));
  EXPECT_THAT(Page(metrics), HasSubstr(R"(grpc_code="Unknown"} 1)"));
}

TEST(MetricsTest, MeasuresHandlingInSeconds) {
  Metrics metrics;
  MethodMetrics& method = metrics.AddMethod("unary", "s.S", "M");
  method.Handled(grpc::StatusCode::OK, microseconds(10));
  method.Handled(grpc::StatusCode::OK, nanoseconds(-5));
  const std::string page = Page(metrics);
  const std::string name = "grpc_server_handling_seconds";
  EXPECT_THAT(page, HasSubstr(Series(name + "_bucket", R"(,le="1e-05")", "2")));
  EXPECT_THAT(page, HasSubstr(Series(name + "_bucket", R"(,le="+Inf")", "2")));
  EXPECT_THAT(page, HasSubstr(Series(name + "_sum", "", "1e-05")));
  EXPECT_THAT(page, HasSubstr(Series(name + "_count", "", "2")));
}

TEST(MetricsTest, MeasuresKernelQueueAndBytes) {
  Metrics metrics;
  metrics.Kernel(std::chrono::milliseconds(250));
  metrics.Queue(std::chrono::seconds(1));
  metrics.RequestBytes(256);
  const std::string page = Page(metrics);
  EXPECT_THAT(page, HasSubstr("\ntrelu_kernel_seconds_sum 0.25\n"));
  EXPECT_THAT(page, HasSubstr("\ntrelu_queue_seconds_sum 1\n"));
  EXPECT_THAT(page, HasSubstr("\ntrelu_request_bytes_bucket{le=\"64\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("\ntrelu_request_bytes_bucket{le=\"256\"} 1\n"));
}

TEST(MetricsTest, AddsUpThePayloadOfAnswers) {
  Metrics metrics;
  EXPECT_THAT(Page(metrics), HasSubstr("\ntrelu_response_bytes_total 0\n"));
  metrics.ResponseBytes(256);
  metrics.ResponseBytes(1);
  EXPECT_THAT(Page(metrics), HasSubstr("\ntrelu_response_bytes_total 257\n"));
}

TEST(MetricsTest, CountsRejectionsByReason) {
  struct Row {
    Rejection reason;
    const char* label;
  };
  for (const Row& row :
       {Row{Rejection::kInvalid, "invalid"}, Row{Rejection::kTooLarge, "too_large"},
        Row{Rejection::kOverBudget, "over_budget"}, Row{Rejection::kDraining, "draining"},
        Row{Rejection::kDeadline, "deadline"}, Row{Rejection::kCancelled, "cancelled"},
        Row{Rejection::kIdle, "idle"}}) {
    Metrics metrics;
    const std::string series = std::string("trelu_rejected_total{reason=\"") + row.label + "\"} ";
    EXPECT_THAT(Page(metrics), HasSubstr(series + "0\n"));
    metrics.Rejected(row.reason);
    EXPECT_THAT(Page(metrics), HasSubstr(series + "1\n"));
  }
}

TEST(MetricsTest, ReadsGaugesWhenScraped) {
  Metrics metrics;
  double value = 1;
  metrics.AddGauge("trelu_inflight_bytes", "Bytes.", [&] { return value; });
  EXPECT_THAT(Page(metrics), HasSubstr("\ntrelu_inflight_bytes 1\n"));
  value = 2;
  EXPECT_THAT(Page(metrics), HasSubstr("\ntrelu_inflight_bytes 2\n"));
}

TEST(MetricsTest, ReadsCountersWhenScraped) {
  Metrics metrics;
  std::vector<double> values = {1.5, 0};
  metrics.AddCounters("trelu_queue_busy_seconds_total", "Time.", "queue", [&] { return values; });
  EXPECT_THAT(Page(metrics), HasSubstr("# TYPE trelu_queue_busy_seconds_total counter\n"
                                       "trelu_queue_busy_seconds_total{queue=\"0\"} 1.5\n"
                                       "trelu_queue_busy_seconds_total{queue=\"1\"} 0\n"));
  values[1] = 2;
  EXPECT_THAT(Page(metrics), HasSubstr("\ntrelu_queue_busy_seconds_total{queue=\"1\"} 2\n"));
}

TEST(MetricsTest, TellsWhatRunsAndHowItFares) {
  const std::string page = Page(Metrics());
  EXPECT_THAT(page, HasSubstr("trelu_build_info{version=\""));
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes",
                           "process_open_fds", "process_max_fds", "process_start_time_seconds"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n") + name + " ")) << name;
  }
}

double ProcessValue(const std::string& name) {
  for (const prometheus::MetricFamily& family : Metrics().Collect()) {
    if (family.name == name) return family.metric.front().gauge.value;
  }
  return -1;
}

TEST(MetricsTest, GivesAPlausibleStartTime) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(ProcessValue("process_start_time_seconds"), now + 2);
  EXPECT_GE(ProcessValue("process_start_time_seconds"), now - 3600);
  EXPECT_GE(ProcessValue("process_threads"), 1);
  EXPECT_GT(ProcessValue("process_resident_memory_bytes"), 1 << 20);
  EXPECT_LT(ProcessValue("process_open_fds"), 100);
}

TEST(MetricsTest, AreExactAfterManyThreadsAndScrapes) {
  constexpr int kThreads = 10;
  constexpr int kCalls = 5000;
  Metrics metrics;
  MethodMetrics& method = metrics.AddMethod("unary", "s.S", "M");
  std::atomic<bool> done{false};
  std::thread scraper([&] {
    while (!done) metrics.Collect();
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < kCalls; ++call) {
        method.Started();
        metrics.Rejected(Rejection::kInvalid);
        metrics.RequestBytes(2);
        method.Handled(grpc::StatusCode::CANCELLED, nanoseconds(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  scraper.join();
  const std::string page = Page(metrics);
  EXPECT_THAT(page, HasSubstr(Series("grpc_server_started_total", "", "50000")));
  EXPECT_THAT(page,
              HasSubstr(Series("grpc_server_handled_total", R"(,grpc_code="Canceled")", "50000")));
  EXPECT_THAT(page, HasSubstr("\ntrelu_rejected_total{reason=\"invalid\"} 50000\n"));
  EXPECT_THAT(page, HasSubstr("\ntrelu_request_bytes_sum 100000\n"));
}

}  // namespace
}  // namespace trelu::server
