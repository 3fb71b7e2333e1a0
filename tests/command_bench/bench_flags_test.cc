#include "client/command/bench/bench_flags.h"

#include <gmock/gmock.h>

namespace trelu::command {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{8} << 30;

// Parses as `trelu bench` would, then plans.
absl::StatusOr<BenchPlan> Plan(const std::string& arguments) {
  CLI::App app;
  app.fallthrough();
  ConnectionOptions connection;
  AddConnectionOptions(app, connection);
  BenchFlags flags;
  CLI::App* bench = app.add_subcommand("bench", "");
  AddBenchFlags(*bench, flags);
  try {
    app.parse("bench " + arguments, false);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(std::string("parse: ") + error.what());
  }
  return PlanBench(flags, connection, app.get_option("--retries")->count() > 0, kMemory);
}

TEST(BenchFlagsTest, Defaults) {
  const absl::StatusOr<BenchPlan> plan = Plan("");
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->specs.size(), 2U);
  EXPECT_EQ(plan->specs[0].bytes(), 64U);
  EXPECT_EQ(plan->specs[1].bytes(), 1U << 20);
  const BenchSettings& settings = plan->settings;
  EXPECT_EQ(settings.mode, SendMode::kUnary);
  EXPECT_EQ(settings.dtype, DType::kFloat32);
  EXPECT_EQ(settings.alpha, std::nullopt);
  EXPECT_EQ(settings.retries, 0) << "failures must not hide behind retries";
  EXPECT_EQ(settings.timeout, std::chrono::seconds(60));
  EXPECT_EQ(settings.plan.rate, std::nullopt);
  EXPECT_EQ(settings.plan.in_flight, 16U);
  EXPECT_EQ(settings.plan.duration, std::chrono::seconds(10));
  EXPECT_EQ(settings.plan.warmup, std::chrono::seconds(2));
  EXPECT_FALSE(plan->verify_more);
}

TEST(BenchFlagsTest, EverythingGiven) {
  const absl::StatusOr<BenchPlan> plan = Plan(
      "--size 4KiB,1MB --dtype bfloat16 --alpha -0.5 --mode stream --in-flight 7 --rate 1500.5 "
      "--arrivals uniform --seed 9 --duration 1.5s --warmup 0 --requests 99 --verify "
      "--connections 3 --retries 2 --timeout 0.25 --json out.json -t unix:/tmp/s");
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->specs.size(), 2U);
  EXPECT_EQ(plan->specs[1].bytes(), 1'000'000U);
  EXPECT_EQ(plan->specs[1].shape().dims()[0], 500'000);
  const BenchSettings& settings = plan->settings;
  EXPECT_EQ(settings.target, "unix:/tmp/s");
  EXPECT_EQ(settings.mode, SendMode::kStream);
  EXPECT_EQ(settings.dtype, DType::kBFloat16);
  EXPECT_EQ(settings.alpha, -0.5F);
  EXPECT_EQ(settings.connections, 3);
  EXPECT_EQ(settings.retries, 2);
  EXPECT_EQ(settings.timeout, std::chrono::milliseconds(250));
  const LoadPlan& load = settings.plan;
  EXPECT_EQ(load.in_flight, 7U);
  EXPECT_EQ(load.rate, 1500.5);
  EXPECT_EQ(load.arrivals, Arrivals::kUniform);
  EXPECT_EQ(load.seed, 9U);
  EXPECT_EQ(load.duration, std::chrono::milliseconds(1500));
  EXPECT_EQ(load.warmup, std::chrono::nanoseconds(0));
  EXPECT_EQ(load.max_requests, 99U);
  EXPECT_TRUE(plan->verify_more);
}

TEST(BenchFlagsTest, ShapeInsteadOfSize) {
  const absl::StatusOr<BenchPlan> plan = Plan("--shape 8,3,224,224 --dtype float16");
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->specs.size(), 1U);
  EXPECT_EQ(plan->specs[0].bytes(), 8U * 3 * 224 * 224 * 2);
}

TEST(BenchFlagsTest, AnOpenLoopMayHaveMoreInFlight) {
  EXPECT_EQ(Plan("--size 64 --rate 100")->settings.plan.in_flight, 256U);
}

struct WrongCase {
  std::string name;
  std::string arguments;
  std::string message;  // part of it
};
void PrintTo(const WrongCase& row, std::ostream* out) { *out << row.name; }

class WrongBenchFlagsTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongBenchFlagsTest, AreRefusedNamingTheFlag) {
  const absl::StatusOr<BenchPlan> plan = Plan(GetParam().arguments);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(plan.status().message()), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WrongBenchFlagsTest,
    testing::Values(
        WrongCase{"SizeWord", "--size big", "--size: \"big\" is not a size"},
        WrongCase{"SizeNegative", "--size=-4", "--size"},
        WrongCase{"SizeNotWholeElements", "--size 66", "--size 66: expected a multiple of the 4"},
        WrongCase{"SizeOfNoMessage", "--size 1025MiB", "--size 1025 MiB: at most 1 GiB fits one"},
        WrongCase{"SizeTooLarge", "--size 1GiB", "--size 1 GiB with 16 in flight needs more"},
        WrongCase{"SizeEnormous", "--mode auto --size 4194304TiB",
                  "--size 4194304 TiB with 16 in flight"},
        WrongCase{"SizeAndShape", "--size 64 --shape 1,2", "excludes"},
        WrongCase{"ShapeNegative", "--shape 1,-2", "--shape"},
        WrongCase{"ShapeOverflows", "--shape 4294967296,4294967296", "shape"},
        WrongCase{"DType", "--dtype int8", "--dtype"}, WrongCase{"Alpha", "--alpha 1,5", "--alpha"},
        WrongCase{"Mode", "--mode fast", "--mode"},
        WrongCase{"InFlightZero", "--in-flight 0", "--in-flight"},
        WrongCase{"InFlightNegative", "--in-flight=-1", "--in-flight"},
        WrongCase{"InFlightMany", "--in-flight 10001", "--in-flight"},
        WrongCase{"StreamsMany", "--mode stream --in-flight 513", "--in-flight 513: at most 512"},
        WrongCase{"RateZero", "--rate 0", "--rate"},
        WrongCase{"RateNegative", "--rate=-5", "--rate"},
        WrongCase{"RateNan", "--rate nan", "--rate"},
        WrongCase{"RateEnormous", "--rate 1e9", "--rate"},
        WrongCase{"ArrivalsWithoutRate", "--arrivals uniform", "--rate"},
        WrongCase{"SeedNegative", "--rate 5 --seed=-1", "--seed"},
        WrongCase{"DurationZero", "--duration 0s", "--duration: must be above 0"},
        WrongCase{"DurationWord", "--duration soon", "--duration: \"soon\" is not a duration"},
        WrongCase{"DurationLong", "--duration 25h", "--duration"},
        WrongCase{"Warmup", "--warmup 1x", "--warmup"},
        WrongCase{"RequestsNegative", "--requests=-1", "--requests"},
        WrongCase{"Unknown", "--sise 64", "--sise"}, WrongCase{"Positional", "64", "64"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trelu::command
