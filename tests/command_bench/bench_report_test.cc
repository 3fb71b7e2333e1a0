#include "client/command/bench/bench_report.h"

#include <gtest/gtest.h>

namespace trelu::command {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

BenchSettings Settings() {
  BenchSettings settings;
  settings.target = "localhost:8001";
  settings.server = ServerInfo{.version = "0.1.0",
                               .uptime = {},
                               .kernel_level = "x86-64-v3",
                               .workers = 2,
                               .inline_bytes = 262144,
                               .dtypes = {}};
  settings.client_version = "0.1.0";
  settings.timeout = seconds(60);
  settings.plan.in_flight = 16;
  settings.plan.warmup = seconds(2);
  return settings;
}

// 1000 requests in 10 s, 101 to 1100 us.
BenchRow Row(std::int64_t elements) {
  BenchRow row{.spec = *TensorSpec::Create(DType::kFloat32, std::vector{elements})};
  row.verified = 1;
  row.load.window = seconds(10);
  row.load.tally.answered_in_window = 1000;
  for (int i = 1; i <= 1000; ++i) row.load.tally.latency.Record(microseconds(100 + i));
  return row;
}

TEST(BenchReportTest, ClosedLoopTable) {
  EXPECT_EQ("\n" + FormatHead(Settings()) + FormatRow(Settings(), Row(16)) +
                FormatRow(Settings(), Row(4 << 20)),
            R"(
trelu bench localhost:8001 (trelu 0.1.0, x86-64-v3, 2 workers): closed loop, 16 in flight, 1 connection, unary, float32, default alpha, 10 s after 2 s of warm-up

     size   answered   failed      req/s       GB/s      p50      p90      p99    p99.9      max
                                           each way
     64 B       1000        0      100.0     0.0000    600us   1.00ms   1.09ms   1.10ms   1.10ms
   16 MiB       1000        0      100.0     1.6777    600us   1.00ms   1.09ms   1.10ms   1.10ms
)");
}

TEST(BenchReportTest, OpenLoopTableSaysWhatToDoubt) {
  BenchSettings settings = Settings();
  settings.server.reset();
  settings.connections = 2;
  settings.mode = SendMode::kStream;
  settings.alpha = 0.1F;
  settings.plan.rate = 2000;
  BenchRow row = Row(16);
  row.load.tally.failures[absl::StatusCode::kUnavailable] = {3, "full\n"};
  row.load.tally.failures[absl::StatusCode::kDeadlineExceeded] = {1, "late"};
  for (int i = 1; i <= 100; ++i) row.load.lateness.Record(microseconds(i));
  row.load.waited_for_slot = 17;
  row.load.never_sent = 18'996;
  row.load.interrupted = true;
  row.load.abandoned = 5;
  EXPECT_EQ("\n" + FormatHead(settings) + FormatRow(settings, row), R"(
trelu bench localhost:8001: open loop, 2000 requests/s (poisson), at most 16 in flight, 2 connections, stream, float32, alpha 0.1, 10 s after 2 s of warm-up

     size   answered   failed      req/s       GB/s      p50      p90      p99    p99.9      max
                                           each way
     64 B       1000        4      100.0     0.0000    600us   1.00ms   1.09ms   1.10ms   1.10ms
          1 failed with DEADLINE_EXCEEDED: late
          3 failed with UNAVAILABLE: full\n
          sent late by: p50 50.0us, p99 99.1us, max 100us
          17 requests waited while 16 were in flight (--in-flight)
          the rate was not reached: 18996 requests never sent, latencies are a lower bound
          interrupted; 5 requests abandoned
)");
}

TEST(BenchReportTest, NothingAnswered) {
  const BenchRow row{.spec = *TensorSpec::Create(DType::kFloat16, std::vector<std::int64_t>{8})};
  EXPECT_EQ(FormatRow(Settings(), row),
            "     16 B          0        0        0.0     0.0000        -        -        -        "
            "-        -\n");
}

TEST(BenchReportTest, Json) {
  BenchSettings settings = Settings();
  settings.plan.rate = 2000;
  settings.alpha = 0.5F;
  BenchRow row = Row(16);
  row.load.tally.failures[absl::StatusCode::kUnavailable] = {3, "\"full\""};
  EXPECT_EQ(ToJson(settings, {row}), R"({
  "format": 1,
  "settings": {
    "target": "localhost:8001",
    "client_version": "0.1.0",
    "server_version": "0.1.0",
    "kernel_level": "x86-64-v3",
    "server_workers": 2,
    "inline_bytes": 262144,
    "mode": "unary",
    "dtype": "float32",
    "alpha": 0.5,
    "connections": 1,
    "retries": 0,
    "timeout_ms": 60000,
    "loop": "open",
    "in_flight": 16,
    "rate_per_second": 2000,
    "arrivals": "poisson",
    "seed": 1,
    "warmup_seconds": 2,
    "duration_seconds": 10,
    "max_requests": 0
  },
  "results": [
    {
      "bytes": 64,
      "shape": [
        16
      ],
      "verified": 1,
      "window_seconds": 10,
      "answered_in_window": 1000,
      "failed": 3,
      "failures": {
        "UNAVAILABLE": {
          "count": 3,
          "first_message": "\"full\""
        }
      },
      "requests_per_second": 100,
      "bytes_per_second_each_way": 6400,
      "latency_us": {
        "count": 1000,
        "min": 101,
        "mean": 600.5,
        "p50": 600.064,
        "p90": 1001.472,
        "p99": 1093.632,
        "p99.9": 1100,
        "max": 1100
      },
      "send_lateness_us": {
        "count": 0,
        "min": 0,
        "mean": 0,
        "p50": 0,
        "p90": 0,
        "p99": 0,
        "p99.9": 0,
        "max": 0
      },
      "waited_for_slot": 0,
      "never_sent": 0,
      "interrupted": false,
      "abandoned": 0
    }
  ]
}
)");
}

TEST(BenchReportTest, SaysWhenSharedMemoryIsAllowed) {
  BenchSettings settings = Settings();
  settings.server->shared_memory_prefix = "/";
  EXPECT_EQ(FormatHead(settings).find("shared memory"), std::string::npos);
  settings.mode = SendMode::kAuto;
  EXPECT_NE(FormatHead(settings).find(", auto (shared memory allowed), float32"),
            std::string::npos);
}

}  // namespace
}  // namespace trelu::command
