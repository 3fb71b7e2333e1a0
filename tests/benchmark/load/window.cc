#include "tests/benchmark/load/window.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

namespace trelu::benchmark {
namespace {

using std::chrono::duration;

// Long enough for connections to be made and caches to be warm.
constexpr duration<double> kWarmUp{0.15};
constexpr std::size_t kAtLeast = 6;

}  // namespace

double CpuSeconds(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (process == 0) return 0;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    std::fprintf(stderr, "there is no process %d\n", static_cast<int>(process));
    std::exit(1);
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Window::Window(double seconds, int in_flight, pid_t server)
    : seconds_(seconds),
      at_least_(std::max(kAtLeast, 2 * static_cast<std::size_t>(in_flight))),
      server_(server) {
  seconds_each_.reserve(std::size_t{1} << 16);
}

void Window::Open(Clock::time_point now) {
  open_ = true;
  opened_ = now;
  server_cpu_ = CpuSeconds(server_);
  client_cpu_ = CpuSeconds(getpid());
}

void Window::Answered(Clock::time_point sent) {
  if (over_) return;
  const Clock::time_point now = Clock::now();
  if (!open_) {
    ++warm_up_answers_;
    if (now - begun_ >= kWarmUp && warm_up_answers_ >= at_least_ / 2) Open(now);
    return;
  }
  seconds_each_.push_back(duration<float>(now - sent).count());
  if (now - opened_ < seconds_ || seconds_each_.size() < at_least_) return;
  over_ = true;
  closed_ = now;
  server_cpu_ = CpuSeconds(server_) - server_cpu_;
  client_cpu_ = CpuSeconds(getpid()) - client_cpu_;
}

std::string Window::Report(std::size_t bytes) const {
  std::vector<float> sorted = seconds_each_;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  const double seconds = duration<double>(closed_ - opened_).count();
  const auto percentile = [&](double share) {
    return static_cast<double>(sorted[static_cast<std::size_t>(share * (count - 1))]);
  };
  return nlohmann::json{{"requests", sorted.size()},
                        {"bytes", bytes},
                        {"seconds", seconds},
                        {"requests_per_second", count / seconds},
                        {"gb_per_second", count * static_cast<double>(bytes) / seconds / 1e9},
                        {"p50_us", percentile(0.5) * 1e6},
                        {"p99_us", percentile(0.99) * 1e6},
                        {"server_cpu_us_per_request", server_cpu_ / count * 1e6},
                        {"client_cpu_us_per_request", client_cpu_ / count * 1e6}}
      .dump();
}

}  // namespace trelu::benchmark
