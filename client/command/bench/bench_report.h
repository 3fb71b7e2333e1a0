// The figures of a benchmark as text and as JSON.
#ifndef TRELU_CLIENT_COMMAND_BENCH_BENCH_REPORT_H_
#define TRELU_CLIENT_COMMAND_BENCH_BENCH_REPORT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command/bench/load_run.h"
#include "trelu/client.h"

namespace trelu::command {

enum class SendMode {
  kUnary,   // one message each way, whatever the size
  kStream,  // a stream for each request
  kAuto,    // as the client library does by itself: what it thinks best for the size and the server
};

// "unary", "stream" or "auto".
std::string Name(SendMode mode);
// "uniform" or "poisson".
std::string Name(Arrivals arrivals);

// What was run; the same for all rows.
struct BenchSettings {
  std::string target;
  // Left out when the server does not say.
  std::optional<ServerInfo> server;
  std::string client_version;
  SendMode mode = SendMode::kUnary;
  DType dtype = DType::kFloat32;
  std::optional<float> alpha;
  int connections = 1;
  int retries = 0;
  std::chrono::milliseconds timeout{0};
  LoadPlan plan;
};

// One tensor size.
struct BenchRow {
  TensorSpec spec;
  std::uint64_t verified = 0;  // answers compared, all right, before the load
  LoadResult load{};

  double requests_per_second() const;
  // Of payload in each direction; the same amount goes there and comes back.
  double bytes_per_second() const;
  std::uint64_t failed() const;
};

// One line that says what is run, then the table's head; both end with a newline.
std::string FormatHead(const BenchSettings& settings);
// The row's line of the table, and below it what a reader must know to trust the figures: failures,
// a generator that was late, requests never sent.
std::string FormatRow(const BenchSettings& settings, const BenchRow& row);

// Everything, with its unit in each name. `format` in it is 1 and grows when a name changes its
// meaning.
std::string ToJson(const BenchSettings& settings, const std::vector<BenchRow>& rows);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_BENCH_REPORT_H_
