#include "client/command/bench/bench_flags.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "client/command/bench/quantities.h"
#include "client/command/number_arguments.h"

namespace trelu::command {
namespace {

constexpr std::size_t kClosedInFlight = 16;
constexpr std::size_t kOpenInFlight = 256;
constexpr std::size_t kMostInFlight = 10'000;
constexpr std::size_t kMostStreams = 512;  // each has a thread

// CLI11's way to check a flag by a function that returns a StatusOr.
template <typename Parse>
CLI::Validator Parses(Parse parse, const char* name) {
  return {[parse](const std::string& text) {
            const auto value = parse(text);
            return value.ok() ? std::string() : std::string(value.status().message());
          },
          name};
}

// CLI::Range would let NaN pass.
absl::StatusOr<double> ParseRate(const std::string& text) {
  double rate = 0;
  if (absl::SimpleAtod(text, &rate) && rate >= 0.001 && rate <= 1e6) return rate;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a rate: expected 0.001 to 1000000 requests/s"));
}

absl::StatusOr<std::vector<TensorSpec>> Specs(const BenchFlags& flags, DType dtype) {
  std::vector<TensorSpec> specs;
  if (!flags.shape.empty()) {
    absl::StatusOr<TensorSpec> spec = TensorSpec::Create(dtype, flags.shape);
    if (!spec.ok()) return spec.status();
    specs.push_back(*std::move(spec));
    return specs;
  }
  const std::uint64_t width = ElementBytes(dtype);
  for (const std::string& size : flags.sizes) {
    const absl::StatusOr<std::uint64_t> bytes = ParseBytes(size);
    if (!bytes.ok()) return bytes.status();
    if (*bytes % width != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--size ", size, ": expected a multiple of the ", width, " bytes of a ", flags.dtype));
    }
    absl::StatusOr<TensorSpec> spec =
        TensorSpec::Create(dtype, std::vector{static_cast<std::int64_t>(*bytes / width)});
    if (!spec.ok()) return spec.status();
    specs.push_back(*std::move(spec));
  }
  return specs;
}

absl::Status CheckSizes(const BenchPlan& plan, std::uint64_t memory_bytes) {
  const std::uint64_t slots = plan.settings.plan.in_flight;
  if (plan.settings.mode == SendMode::kStream) return absl::OkStatus();
  for (const TensorSpec& spec : plan.specs) {
    if (plan.settings.mode == SendMode::kUnary && spec.bytes() > kLargestUnaryBytes) {
      return absl::InvalidArgumentError(absl::StrCat("--size ", FormatBytes(spec.bytes()),
                                                     ": at most ", FormatBytes(kLargestUnaryBytes),
                                                     " fits one message: use --mode stream"));
    }
    if (spec.bytes() > memory_bytes / 2 / (slots + 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--size ", FormatBytes(spec.bytes()), " with ", slots,
                       " in flight needs more than half of this machine's memory: lower "
                       "--in-flight, or use --mode "
                       "stream, which needs a constant amount"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddBenchFlags(CLI::App& bench, BenchFlags& flags) {
  const std::string load = "Load";
  const std::string tensor = "Tensor";
  const auto duration = Parses(ParseDuration, "DURATION");

  CLI::Option* size = bench
                          .add_option("--size", flags.sizes,
                                      "Bytes of the tensor, such as 64, 4KiB or 1MiB; "
                                      "several, with commas, are run one after the other")
                          ->delimiter(',')
                          ->type_name("BYTES")
                          ->check(Parses(ParseBytes, ""))
                          ->default_str("64,1MiB")
                          ->group(tensor);
  bench.add_option("--shape", flags.shape, "Its shape instead, such as 8,3,224,224")
      ->delimiter(',')
      ->type_name("DIMS")
      ->check(CLI::NonNegativeNumber)
      ->excludes(size)
      ->group(tensor);
  bench.add_option("--dtype", flags.dtype, "Its element type")
      ->check(CLI::IsMember({"float16", "bfloat16", "float32", "float64"}))
      ->capture_default_str()
      ->group(tensor);
  bench.add_option("--alpha", flags.alpha, "The threshold; left out: the operator's default, 1")
      ->check(Parses(ParseAlpha, ""))
      ->type_name("NUMBER")
      ->group(tensor);

  bench
      .add_option("--mode", flags.mode,
                  "unary: one message each way; stream: a stream for each request; auto: as the "
                  "client library does, a stream or shared memory when the tensor is large")
      ->check(CLI::IsMember({"unary", "stream", "auto"}))
      ->capture_default_str()
      ->group(load);
  bench
      .add_option("--in-flight", flags.in_flight,
                  "Requests in flight: always so many (default 16), or with --rate at most so many "
                  "(default 256)")
      ->check(CLI::Range(std::size_t{1}, kMostInFlight))
      ->type_name("N")
      ->group(load);
  CLI::Option* rate = bench
                          .add_option("--rate", flags.rate,
                                      "Requests per second, sent whether or not earlier ones were "
                                      "answered (open loop)")
                          ->check(Parses(ParseRate, ""))
                          ->type_name("R")
                          ->group(load);
  bench.add_option("--arrivals", flags.arrivals, "When: poisson, as from many callers, or uniform")
      ->check(CLI::IsMember({"poisson", "uniform"}))
      ->capture_default_str()
      ->needs(rate)
      ->group(load);
  bench.add_option("--seed", flags.seed, "Of the poisson arrivals")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->needs(rate)
      ->group(load);
  bench.add_option("--duration", flags.duration, "How long to measure each size")
      ->check(duration)
      ->capture_default_str()
      ->group(load);
  bench.add_option("--warmup", flags.warmup, "How long to run before, unmeasured")
      ->check(duration)
      ->capture_default_str()
      ->group(load);
  bench
      .add_option("--requests", flags.requests, "Stop after so many measured requests; 0: by time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(load);
  bench.add_flag("--verify", flags.verify,
                 "Before the clock runs, compare two answers for each request in flight with what "
                 "they must be, bit for bit; without it, one answer for each size");
  bench
      .add_option("--json", flags.json, "Write settings and figures there, too; - is stdout, alone")
      ->type_name("FILE");
}

absl::StatusOr<BenchPlan> PlanBench(const BenchFlags& flags, const ConnectionOptions& connection,
                                    bool retries_given, std::uint64_t memory_bytes) {
  BenchPlan plan;
  BenchSettings& settings = plan.settings;
  settings.target = connection.target;
  settings.client_version = TRELU_VERSION;
  settings.mode = flags.mode == "stream" ? SendMode::kStream
                  : flags.mode == "auto" ? SendMode::kAuto
                                         : SendMode::kUnary;
  const std::optional<DType> dtype = DTypeFromName(flags.dtype);
  if (!dtype) return absl::InvalidArgumentError(absl::StrCat("--dtype ", flags.dtype));
  settings.dtype = *dtype;
  if (!flags.alpha.empty()) {
    const absl::StatusOr<float> alpha = ParseAlpha(flags.alpha);
    if (!alpha.ok()) return alpha.status();
    settings.alpha = *alpha;
  }
  settings.connections = connection.connections;
  // A benchmark should see failures, not hide them behind a second try.
  settings.retries = retries_given ? connection.retries : 0;
  settings.timeout = connection.Timeout(std::chrono::seconds(60));

  LoadPlan& load = settings.plan;
  load.rate = flags.rate;
  load.in_flight = flags.in_flight.value_or(flags.rate ? kOpenInFlight : kClosedInFlight);
  load.arrivals = flags.arrivals == "uniform" ? Arrivals::kUniform : Arrivals::kPoisson;
  load.seed = flags.seed;
  load.max_requests = flags.requests;
  const auto duration = ParseDuration(flags.duration);
  const auto warmup = ParseDuration(flags.warmup);
  if (!duration.ok()) return duration.status();
  if (!warmup.ok()) return warmup.status();
  load.duration = *duration;
  load.warmup = *warmup;
  plan.verify_more = flags.verify;
  if (load.duration.count() == 0) return absl::InvalidArgumentError("--duration: must be above 0");
  if (settings.mode == SendMode::kStream && load.in_flight > kMostStreams) {
    return absl::InvalidArgumentError(absl::StrCat("--in-flight ", load.in_flight, ": at most ",
                                                   kMostStreams, " with --mode stream"));
  }

  absl::StatusOr<std::vector<TensorSpec>> specs = Specs(flags, *dtype);
  if (!specs.ok()) return specs.status();
  plan.specs = *std::move(specs);
  if (absl::Status status = CheckSizes(plan, memory_bytes); !status.ok()) return status;
  return plan;
}

}  // namespace trelu::command
