// What no network service can beat: the bytes moved within one process. Prints one line of JSON.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/benchmark/load/window.h"

int main(int argc, char** argv) {
  using trelu::benchmark::Clock;
  std::string work = "memcpy";
  std::size_t bytes = std::size_t{64} << 20;
  double seconds = 1;
  CLI::App app("Memory alone, for the benchmark: see tests/benchmark/run.sh.");
  app.add_option("--work", work)->check(CLI::IsMember({"memcpy", "kernel", "kernel-in-place"}));
  app.add_option("--bytes", bytes);
  app.add_option("--seconds", seconds);
  CLI11_PARSE(app, argc, argv);
  const trelu::ThresholdedRelu op(trelu::DType::kFloat32, 1.0F);
  std::vector<std::byte> x(bytes, std::byte{0x40});
  std::vector<std::byte> y(bytes);
  trelu::benchmark::Window window(seconds, 1, 0);
  while (!window.over()) {
    const Clock::time_point begun = Clock::now();
    if (work == "memcpy") {
      std::memcpy(y.data(), x.data(), bytes);
    } else {
      op.Apply(x, work == "kernel" ? y.data() : x.data());
    }
    window.Answered(begun);
  }
  std::printf("%s\n", window.Report(bytes).c_str());
  return 0;
}
