// What no network service can beat: the bytes moved within one process. Prints one line of JSON.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/thresholded_relu.h"
#include "tests/benchmark/load/payload.h"
#include "tests/benchmark/load/window.h"

int main(int argc, char** argv) {
  using trelu::benchmark::Clock;
  std::string work = "memcpy";
  std::size_t bytes = std::size_t{64} << 20;
  double seconds = 1;
  bool verify = false;
  CLI::App app("Memory alone, for the benchmark: see tests/benchmark/run.sh.");
  app.add_option("--work", work)->check(CLI::IsMember({"memcpy", "kernel", "kernel-in-place"}));
  app.add_option("--bytes", bytes);
  app.add_option("--seconds", seconds);
  app.add_flag("--verify", verify);
  CLI11_PARSE(app, argc, argv);
  const trelu::ThresholdedRelu op(trelu::DType::kFloat32, trelu::benchmark::kAlpha);
  const std::string payload = trelu::benchmark::MakePayload(bytes);
  const std::string expected = work == "memcpy" ? payload : trelu::benchmark::OperatorOf(payload);
  std::vector<std::byte> x(bytes);
  std::memcpy(x.data(), payload.data(), bytes);
  std::vector<std::byte> other(bytes);
  std::vector<std::byte>& y = work == "kernel-in-place" ? x : other;
  trelu::benchmark::Window window(seconds, 1, 0);
  while (!window.over()) {
    const Clock::time_point begun = Clock::now();
    if (work == "memcpy") {
      std::memcpy(y.data(), x.data(), bytes);
    } else {
      op.Apply(x, y.data());
    }
    window.Answered(begun);
    if (!verify) continue;
    if (std::memcmp(y.data(), expected.data(), bytes) != 0) {
      trelu::benchmark::Fail("a wrong result");
    }
    std::memset(other.data(), 0xa5, bytes);
    std::memcpy(x.data(), payload.data(), bytes);
  }
  std::printf("%s\n", window.Report(bytes).c_str());
  return 0;
}
