// The flags of `trelu bench`.
#ifndef TRELU_CLIENT_COMMAND_BENCH_BENCH_FLAGS_H_
#define TRELU_CLIENT_COMMAND_BENCH_BENCH_FLAGS_H_

#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command/bench/bench_report.h"
#include "client/command/connection_options.h"

namespace trelu::command {

// As written on the command line; sizes and durations are checked while parsing.
struct BenchFlags {
  std::vector<std::string> sizes = {"64", "1MiB"};
  std::vector<std::int64_t> shape;  // instead of sizes
  std::string dtype = "float32";
  std::string alpha;
  std::string mode = "unary";
  std::optional<std::size_t> in_flight;
  std::optional<double> rate;
  std::string arrivals = "poisson";
  std::uint64_t seed = 1;
  std::string duration = "10s";
  std::string warmup = "2s";
  std::uint64_t requests = 0;
  bool verify = false;
  std::string json;  // a file's name, "-" for stdout; empty: none
};

// Adds the flags to the subcommand `bench`. `flags` must outlive the parsing.
void AddBenchFlags(CLI::App& bench, BenchFlags& flags);

// The most that the client library sends in one message (ClientOptions::stream_above_bytes).
inline constexpr std::uint64_t kLargestUnaryBytes = std::uint64_t{1} << 30;

// What the flags ask for.
struct BenchPlan {
  BenchSettings settings;  // without the server
  std::vector<TensorSpec> specs;
  bool verify_more = false;
};

// INVALID_ARGUMENT, naming the flag, when flags do not fit each other: a size that is not a
// multiple of the element's, or more memory than half of `memory_bytes`.
absl::StatusOr<BenchPlan> PlanBench(const BenchFlags& flags, const ConnectionOptions& connection,
                                    bool retries_given, std::uint64_t memory_bytes);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_BENCH_FLAGS_H_
