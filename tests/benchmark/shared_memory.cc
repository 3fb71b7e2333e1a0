// What shared memory saves: one tensor by the client library over the connection, through shared
// memory from the caller's own memory, and in buffers that are shared from the start.
#include <absl/synchronization/mutex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trelu/client.h"

namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

[[noreturn]] void Fail(const absl::Status& status) {
  std::fprintf(stderr, "shared_memory: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::unique_ptr<trelu::Client> Connect(const char* target, trelu::SharedMemory shared_memory) {
  trelu::ClientOptions options;
  options.target = target;
  options.shared_memory = shared_memory;
  options.shared_memory_above_bytes = 0;
  auto client = trelu::Client::Create(options);
  if (!client.ok()) Fail(client.status());
  return *std::move(client);
}

// Processor time of a process so far, all its threads; 0: not known.
double CpuSeconds(const char* pid) {
  if (pid == nullptr) return 0;
  std::ifstream file(std::string("/proc/") + pid + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return 0;
  unsigned long user = 0;
  unsigned long system = 0;
  // Fields 14 and 15 of proc(5); the third begins two bytes behind the name.
  std::sscanf(text.c_str() + name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
              &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// One way to make the call, and how long it took each time.
struct Way {
  const char* name;
  trelu::Client& client;
  std::span<std::byte> x;
  std::span<std::byte> y;
  std::vector<double> milliseconds{};
  double cpu_seconds = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Call(const trelu::TensorSpec& spec, Way& way, const char* pid, bool timed) {
  const double cpu = CpuSeconds(pid);
  const auto begun = steady_clock::now();
  const absl::Status status = way.client.Apply(spec, way.x, way.y);
  const auto ended = steady_clock::now();
  if (!status.ok()) Fail(status);
  if (!timed) return;
  way.milliseconds.push_back(duration<double, std::milli>(ended - begun).count());
  way.cpu_seconds += CpuSeconds(pid) - cpu;
}

std::span<std::byte> Bytes(std::vector<float>& elements) {
  return std::as_writable_bytes(std::span(elements));
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc < 2 || argc > 5) {
    std::fprintf(stderr, "usage: %s TARGET [KIB [ROUNDS [SERVER_PID]]]\n", argv[0]);
    return 2;
  }
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::size_t bytes = static_cast<std::size_t>(argc > 2 ? std::atoi(arguments[2]) : 65536)
                            << 10;
  const int rounds = argc > 3 ? std::atoi(arguments[3]) : 31;
  const char* pid = argc > 4 ? arguments[4] : nullptr;

  const auto spec = trelu::TensorSpec::Create(
      trelu::DType::kFloat32, std::vector<std::int64_t>{static_cast<std::int64_t>(bytes / 4)});
  std::vector<float> x(bytes / 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 2.0F;
  std::vector<float> y(x.size());
  const auto connection = Connect(arguments[1], trelu::SharedMemory::kNever);
  const auto sharing = Connect(arguments[1], trelu::SharedMemory::kAuto);
  const auto x_shared = sharing->NewSharedBuffer(bytes);
  const auto y_shared = sharing->NewSharedBuffer(bytes);
  if (!x_shared.ok() || !y_shared.ok() || !(*x_shared)->shared() || !(*y_shared)->shared()) {
    std::fprintf(stderr, "shared_memory: the server does not share memory\n");
    return 1;
  }
  const std::span<std::byte> xs = (*x_shared)->bytes();
  const std::span<std::byte> ys = (*y_shared)->bytes();
  std::memcpy(xs.data(), x.data(), bytes);

  std::array<Way, 5> ways = {{{"connection", *connection, Bytes(x), Bytes(y)},
                              {"own memory", *sharing, Bytes(x), Bytes(y)},
                              {"own x, shared y", *sharing, Bytes(x), ys},
                              {"shared x and y", *sharing, xs, ys},
                              {"shared, y is x", *sharing, xs, xs}}};
  for (int round = -2; round < rounds; ++round) {
    for (Way& way : ways) Call(*spec, way, pid, round >= 0);
  }
  const double base = Median(ways[0].milliseconds);
  std::printf("%zu KiB, %d rounds in turn\n%-16s%10s%10s%10s%10s%14s\n", bytes >> 10, rounds, "",
              "median ms", "best ms", "GB/s", "times", "server s/GB");
  for (const Way& way : ways) {
    const double median = Median(way.milliseconds);
    const double total = static_cast<double>(bytes) * rounds / 1e9;
    std::printf("%-16s%10.3f%10.3f%10.2f%10.2f%14.3f\n", way.name, median,
                *std::min_element(way.milliseconds.begin(), way.milliseconds.end()),
                static_cast<double>(bytes) / median / 1e6, base / median, way.cpu_seconds / total);
  }
  return 0;
}
