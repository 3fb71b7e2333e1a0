// How long a call takes that comes after a second or two of silence, when every thread on its way
// may have gone to sleep. Many channels, each with a connection of its own, call once in a while;
// prints the spread.
#include <absl/synchronization/mutex.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "trelu/client.h"

namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

// One caller: `calls` calls with one to two seconds of silence before each. Milliseconds each; a
// call that failed ends the program.
std::vector<double> CallNowAndThen(const char* target, int calls, unsigned seed) {
  trelu::ClientOptions options;
  options.target = target;
  options.retry.max_attempts = 1;
  auto client = trelu::Client::Create(options);
  const auto spec =
      trelu::TensorSpec::Create(trelu::DType::kFloat32, std::vector<std::int64_t>{16});
  std::vector<std::byte> x(spec->bytes(), std::byte{0x40});
  std::vector<std::byte> y(spec->bytes());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> silence(1.0, 2.0);
  std::vector<double> took;
  for (int i = 0; i <= calls; ++i) {
    std::this_thread::sleep_for(duration<double>(silence(random)));
    const auto begun = steady_clock::now();
    const absl::Status status = client.ok() ? (*client)->Apply(*spec, x, y) : client.status();
    const auto ended = steady_clock::now();
    if (!status.ok() || x != y) {
      std::fprintf(stderr, "sporadic: %s\n", status.ToString().c_str());
      std::exit(1);
    }
    // The first call connects.
    if (i > 0) took.push_back(duration<double, std::milli>(ended - begun).count());
  }
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s TARGET [CHANNELS [CALLS_EACH]]\n", argv[0]);
    return 2;
  }
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const int channels = argc > 2 ? std::atoi(arguments[2]) : 50;
  const int calls = argc > 3 ? std::atoi(arguments[3]) : 20;
  std::mutex mutex;
  std::vector<double> all;
  std::vector<std::thread> callers;
  callers.reserve(static_cast<std::size_t>(channels));
  for (int i = 0; i < channels; ++i) {
    callers.emplace_back([&, i] {
      const auto took = CallNowAndThen(arguments[1], calls, static_cast<unsigned>(i));
      const std::lock_guard lock(mutex);
      all.insert(all.end(), took.begin(), took.end());
    });
  }
  for (std::thread& caller : callers) caller.join();
  std::sort(all.begin(), all.end());
  const auto above = all.end() - std::upper_bound(all.begin(), all.end(), 10.0);
  std::printf(
      "%zu calls after 1 to 2 s of silence, %d connections: p50 %.2f ms, p99 %.2f ms, worst %.2f "
      "ms; above 10 "
      "ms: %td\n",
      all.size(), channels, all[all.size() / 2], all[all.size() * 99 / 100], all.back(), above);
  return 0;
}
