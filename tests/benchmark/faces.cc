// The two faces against each other: the same tensor by Apply and by ModelInfer, the server's
// processor time for each, in rounds that take turns. Prints medians and their ratio.
#include <absl/synchronization/mutex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/infer_tensor.h"
#include "tests/support/native_client.h"
#include "tests/support/server_process.h"

namespace {

using namespace trelu::testing;  // NOLINT(google-build-using-namespace): a program, not a header

constexpr int kThreads = 4;
constexpr double kRoundBytes = 2e9;

// utime and stime of proc_pid_stat(5).
double CpuSeconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.erase(0, text.rfind(')') + 2);
  long user = 0;
  long system = 0;
  if (std::sscanf(text.c_str(), "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
                  &system) != 2) {
    std::abort();
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

struct Round {
  double wall_seconds_per_call;
  double cpu_seconds_per_call;
};

Round Measure(const ServerProcess& server, NativeClient& client, const char* method,
              const std::string& request, int calls_each) {
  const double cpu = CpuSeconds(server.pid());
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < calls_each; ++call) {
        const Answer answer = client.Call(method, request);
        if (!answer.status.ok()) {
          std::fprintf(stderr, "faces: %s\n", answer.status.error_message().c_str());
          std::exit(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  const double calls = static_cast<double>(kThreads) * calls_each;
  return {wall.count() / calls, (CpuSeconds(server.pid()) - cpu) / calls};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::size_t bytes =
      argc > 1 ? std::strtoull(arguments[1], nullptr, 10) : std::size_t{1} << 20;
  const int rounds = argc > 2 ? std::atoi(arguments[2]) : 7;
  ServerProcess server(
      {"--listen", "127.0.0.1:0", "--admin-listen", "none", "--drain-delay", "0s"});
  if (bytes < 4 || rounds < 1 || !server.WaitUntilReady()) {
    std::fprintf(stderr, "usage: %s [BYTES [ROUNDS]]\n%s", arguments[0], server.err().c_str());
    return 2;
  }
  NativeClient client(server.target());
  const WireTensorCase tensor = {trelu::DType::kFloat32,
                                 {static_cast<std::int64_t>(bytes / 4)},
                                 1.0F,
                                 std::string(bytes / 4 * 4, '\x40')};
  const struct {
    const char* name;
    const char* method;
    std::string request;
  } faces[] = {{"Apply", kApply, ToRequest(tensor).SerializeAsString()},
               {"ModelInfer", kModelInfer, ToInferRequest(tensor).SerializeAsString()}};
  const int calls_each = static_cast<int>(
      std::clamp(kRoundBytes / static_cast<double>(bytes) / kThreads, 50.0, 20000.0));
  std::array<std::vector<double>, 2> wall;
  std::array<std::vector<double>, 2> cpu;
  std::vector<double> ratio;
  for (int round = -1; round < rounds; ++round) {
    std::array<Round, 2> measured{};
    for (std::size_t i = 0; i < 2; ++i) {
      // Who is first changes from round to round.
      const std::size_t face = round % 2 == 0 ? i : 1 - i;
      measured[face] = Measure(server, client, faces[face].method, faces[face].request, calls_each);
    }
    if (round < 0) continue;  // to warm up
    for (std::size_t face = 0; face < 2; ++face) {
      wall[face].push_back(measured[face].wall_seconds_per_call);
      cpu[face].push_back(measured[face].cpu_seconds_per_call);
    }
    ratio.push_back(measured[1].cpu_seconds_per_call / measured[0].cpu_seconds_per_call);
  }
  std::printf("%zu bytes, %d callers on one connection, %d calls a round, medians of %d rounds\n",
              bytes, kThreads, kThreads * calls_each, rounds);
  for (std::size_t face = 0; face < 2; ++face) {
    const double seconds = Median(wall[face]);
    std::printf("%-10s  %8.0f calls/s  %6.3f GB/s each way  server CPU %7.1f us/call  %.3f s/GB\n",
                faces[face].name, 1 / seconds, static_cast<double>(bytes) / seconds / 1e9,
                Median(cpu[face]) * 1e6, Median(cpu[face]) / static_cast<double>(bytes) * 1e9);
  }
  std::printf("server CPU, ModelInfer against Apply: %.3f (median of the rounds' ratios)\n",
              Median(ratio));
  return 0;
}
