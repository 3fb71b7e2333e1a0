// Times the operator's kernel against memcpy, in one run and interleaved, and prints the ratios.
//
//   kernel_benchmark [--benchmark_filter=...] [--benchmark_repetitions=N] [--benchmark_min_time=S]
//
// Every row's ratio is to aligned memcpy of as many bytes, both in payload bytes a second, both
// medians. The memory is touched before, and the kernel is the one that a server would use. The
// rows called read only read: no work in place can be faster.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/thresholded_relu.h"

namespace {

using trelu::DType;

constexpr std::size_t kLargestBytes = std::size_t{1} << 30;
constexpr std::size_t kAlignment = 4096;
constexpr std::array<std::size_t, 6> kSizes = {std::size_t{16} << 10,  std::size_t{256} << 10,
                                               std::size_t{4} << 20,   std::size_t{64} << 20,
                                               std::size_t{512} << 20, std::size_t{1} << 30};

using Buffer = std::unique_ptr<std::byte, decltype(&std::free)>;

// Random bits, so that no branch predictor could learn which elements pass.
Buffer MakeBuffer() {
  const std::size_t bytes = kLargestBytes + kAlignment;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes)), &std::free);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(buffer.get() + i, &bits, sizeof(bits));
  }
  return buffer;
}

std::byte* Source() {
  static const Buffer buffer = MakeBuffer();
  return buffer.get();
}

std::byte* Destination() {
  static const Buffer buffer = MakeBuffer();
  return buffer.get();
}

enum class Place { kAligned, kMisaligned, kInPlace, kInPlaceMisaligned };

struct Pointers {
  std::byte* x;
  std::byte* y;
};

Pointers At(Place place) {
  switch (place) {
    case Place::kAligned:
      return {Source(), Destination()};
    case Place::kMisaligned:
      return {Source() + 1, Destination() + 3};
    case Place::kInPlace:
      return {Destination(), Destination()};
    case Place::kInPlaceMisaligned:
      return {Destination() + 3, Destination() + 3};
  }
  return {};
}

void BM_Memcpy(benchmark::State& state, Place place, std::size_t bytes) {
  const auto [x, y] = At(place);
  for (auto _ : state) {
    std::memcpy(y, x, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

// Only reads, as fast as is known: four pages in turn, in the widest registers.
inline __attribute__((always_inline)) std::uint64_t ReadAll(const std::byte* x, std::size_t bytes) {
  constexpr std::size_t kPageBytes = 4096;
  std::array<std::uint64_t, 32> sums{};
  for (std::size_t group = 0; group + 4 * kPageBytes <= bytes; group += 4 * kPageBytes) {
    for (std::size_t line = 0; line < kPageBytes; line += sizeof(sums)) {
      for (std::size_t page = 0; page < 4 * kPageBytes; page += kPageBytes) {
        const std::byte* const from = x + group + page + line;
        for (std::size_t i = 0; i < sums.size(); ++i) {
          std::uint64_t word = 0;
          std::memcpy(&word, from + i * sizeof(word), sizeof(word));
          sums[i] ^= word;
        }
      }
    }
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

std::uint64_t ReadBaseline(const std::byte* x, std::size_t bytes) { return ReadAll(x, bytes); }
#if defined(__x86_64__)
__attribute__((target("arch=x86-64-v4"))) std::uint64_t ReadV4(const std::byte* x,
                                                               std::size_t bytes) {
  return ReadAll(x, bytes);
}
#endif

void BM_Read(benchmark::State& state, std::size_t bytes) {
  auto* read = ReadBaseline;
#if defined(__x86_64__)
  if (trelu::SupportedKernelLevels().back() == trelu::KernelLevel::kX86_64_V4) read = ReadV4;
#endif
  for (auto _ : state) benchmark::DoNotOptimize(read(Source(), bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void BM_Kernel(benchmark::State& state, DType dtype, Place place, std::size_t bytes) {
  const auto [x, y] = At(place);
  const trelu::ThresholdedRelu op(dtype, 1.0F);
  for (auto _ : state) {
    op.Apply({x, bytes}, y);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

std::string SizeText(std::size_t bytes) {
  return bytes < (std::size_t{1} << 20) ? std::to_string(bytes >> 10) + "KiB"
                                        : std::to_string(bytes >> 20) + "MiB";
}

std::string_view PlaceText(Place place) {
  switch (place) {
    case Place::kAligned:
      return "aligned";
    case Place::kMisaligned:
      return "misaligned";
    case Place::kInPlace:
      return "in_place";
    case Place::kInPlaceMisaligned:
      return "in_place_misaligned";
  }
  return "";
}

// Prints nothing while running, and at the end one table from the medians.
class RatioReporter final : public benchmark::BenchmarkReporter {
 public:
  // `order`: the rows' names; outlives the reporter.
  explicit RatioReporter(const std::vector<std::string>* order) : order_(order) {}

  bool ReportContext(const Context& context) override {
    PrintBasicContext(&GetErrorStream(), context);
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median") continue;
      const auto rate = run.counters.find("bytes_per_second");
      if (run.error_occurred || rate == run.counters.end()) continue;
      const std::string name = run.run_name.function_name;
      rates_[name] = rate->second.value;
    }
  }

  void Finalize() override {
    std::printf("%-36s %10s %12s\n", "what", "GB/s", "of memcpy");
    for (const std::string& name : *order_) {
      if (!rates_.contains(name)) continue;
      const std::string size = name.substr(0, name.find('/'));
      const auto base = rates_.find(size + "/aligned/memcpy");
      const double ratio = base == rates_.end() ? 0 : rates_[name] / base->second;
      std::printf("%-36s %10.2f %12.2f\n", name.c_str(), rates_[name] / 1e9, ratio);
    }
  }

 private:
  const std::vector<std::string>* order_;
  std::map<std::string, double> rates_;
};

// Returns the names in the order of the table.
std::vector<std::string> RegisterAll() {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name, auto&&... arguments) {
    names.push_back(name);
    benchmark::RegisterBenchmark(name.c_str(), arguments...);
  };
  for (const std::size_t bytes : kSizes) {
    for (const Place place :
         {Place::kAligned, Place::kMisaligned, Place::kInPlace, Place::kInPlaceMisaligned}) {
      const std::string prefix = SizeText(bytes) + "/" + std::string(PlaceText(place)) + "/";
      if (place == Place::kAligned || place == Place::kMisaligned) {
        add(prefix + "memcpy", BM_Memcpy, place, bytes);
      }
      if (place == Place::kInPlace) add(prefix + "read", BM_Read, bytes);
      for (const DType dtype : trelu::kAllDTypes) {
        add(prefix + std::string(trelu::Name(dtype)), BM_Kernel, dtype, place, bytes);
      }
    }
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  // Ours come first, so that the caller's own flags win.
  std::array<std::string, 4> defaults = {"--benchmark_repetitions=7", "--benchmark_min_time=0.02",
                                         "--benchmark_enable_random_interleaving=true",
                                         "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& flag : defaults) arguments.push_back(flag.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  const std::vector<std::string> names = RegisterAll();
  RatioReporter reporter(&names);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
