#include "client/command/info_report.h"

#include <gtest/gtest.h>

namespace trelu::command {
namespace {

InfoReport Report() {
  InfoReport report;
  report.target = "gpu7:8001";
  report.server = {.version = "0.1.0",
                   .uptime = std::chrono::seconds(2 * 86400 + 3 * 3600 + 4 * 60 + 5),
                   .kernel_level = "x86-64-v3",
                   .workers = 2,
                   .inline_bytes = 256 << 10,
                   .max_message_bytes = std::uint64_t{256} << 20,
                   .max_inflight_bytes = std::uint64_t{1} << 30,
                   .dtypes = {DType::kFloat16, DType::kFloat32}};
  report.health = "SERVING";
  report.round_trip = std::chrono::nanoseconds(123'456);
  report.client_version = "0.1.1";
  return report;
}

TEST(InfoReportTest, Text) {
  EXPECT_EQ(FormatInfo(Report()), R"(target           gpu7:8001
health           SERVING
version          0.1.0
uptime           2d 3h 4m
round trip       123us
kernel           x86-64-v3
workers          2, for tensors above 256 KiB
dtypes           float16, float32
largest message  256 MiB
bytes in flight  at most 1 GiB
shared memory    off
client version   0.1.1
)");
}

TEST(InfoReportTest, SharedMemory) {
  InfoReport report = Report();
  report.server.shared_memory_prefix = "/";
  EXPECT_NE(FormatInfo(report).find("\nshared memory    of any name\n"), std::string::npos);
  report.server.shared_memory_prefix = "/tre\n";
  EXPECT_NE(FormatInfo(report).find("\nshared memory    names begin with /tre\\n\n"),
            std::string::npos);
}

TEST(InfoReportTest, Json) {
  EXPECT_EQ(ToJson(Report()), R"({
  "target": "gpu7:8001",
  "health": "SERVING",
  "version": "0.1.0",
  "uptime_seconds": 183845,
  "round_trip_us": 123.456,
  "kernel_level": "x86-64-v3",
  "workers": 2,
  "inline_bytes": 262144,
  "dtypes": [
    "float16",
    "float32"
  ],
  "max_message_bytes": 268435456,
  "max_inflight_bytes": 1073741824,
  "shared_memory_prefix": "",
  "client_version": "0.1.1"
}
)");
}

TEST(InfoReportTest, AHostileServerCannotWriteToTheTerminal) {
  InfoReport report = Report();
  report.server.version = "\x1b[2J\n1";
  report.server.uptime = std::chrono::duration<double>(12.34);
  const std::string text = FormatInfo(report);
  EXPECT_NE(text.find("\nversion          \\x1b[2J\\n1\nuptime           12.3s\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace trelu::command
