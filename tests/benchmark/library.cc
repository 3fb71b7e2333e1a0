// The client library as its users have it: one tensor after the other, by every way that a call
// can take. Prints one line of JSON.
#include <absl/synchronization/mutex.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/allocator.h"
#include "tests/benchmark/load/window.h"
#include "trelu/client.h"

namespace {

using trelu::benchmark::Clock;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "library: %s\n", what.c_str());
  std::exit(1);
}

// Not the operator's default.
constexpr float kAlpha = -0.5F;

// Values on both sides of alpha, -0 among them.
float Element(std::size_t i) { return i % 14 == 2 ? -0.0F : static_cast<float>(i % 7) - 2.0F; }

void Fill(std::span<std::byte> x) {
  for (std::size_t i = 0; i < x.size() / sizeof(float); ++i) {
    const float element = Element(i);
    std::memcpy(&x[i * sizeof(float)], &element, sizeof element);
  }
}

// Bit for bit.
bool IsResult(std::span<const std::byte> y) {
  for (std::size_t i = 0; i < y.size() / sizeof(float); ++i) {
    const float x = Element(i);
    const float expected = kAlpha < x ? x : 0.0F;
    if (std::memcmp(&y[i * sizeof(float)], &expected, sizeof expected) != 0) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  trelu::server::TuneAllocator(2);
  trelu::ClientOptions options;
  std::string way = "connection";
  std::size_t bytes = std::size_t{64} << 20;
  double seconds = 1;
  pid_t server = 0;
  bool verify = false;
  CLI::App app("The client library, for the benchmark: see tests/benchmark/run.sh.");
  app.add_option("--target", options.target)->required();
  app.add_option(
         "--way", way,
         "connection; one-call: the same without the stream that the library would choose; own: "
         "the caller's memory, which the library shares by itself; shared: "
         "from one shared buffer into another; in-place: in one shared buffer")
      ->check(CLI::IsMember({"connection", "one-call", "own", "shared", "in-place"}));
  app.add_option("--connections", options.connections);
  app.add_option("--bytes", bytes);
  app.add_option("--seconds", seconds);
  app.add_option("--server-pid", server);
  app.add_flag("--verify", verify);
  CLI11_PARSE(app, argc, argv);

  if (way == "connection" || way == "one-call") {
    options.shared_memory = trelu::SharedMemory::kNever;
  }
  if (way == "one-call") options.stream_above_bytes = bytes;
  const auto client = trelu::Client::Create(options);
  if (!client.ok()) Fail(client.status().ToString());
  const auto spec = trelu::TensorSpec::Create(
      trelu::DType::kFloat32, std::vector<std::int64_t>{static_cast<std::int64_t>(bytes / 4)});
  std::vector<std::byte> own_x(bytes);
  std::vector<std::byte> own_y(bytes);
  std::span<std::byte> x(own_x);
  std::span<std::byte> y(own_y);
  std::unique_ptr<trelu::SharedBuffer> shared_x;
  std::unique_ptr<trelu::SharedBuffer> shared_y;
  if (way == "shared" || way == "in-place") {
    for (auto* buffer : {&shared_x, &shared_y}) {
      auto made = (*client)->NewSharedBuffer(bytes);
      if (!made.ok() || !(*made)->shared()) Fail("the server does not share memory");
      *buffer = *std::move(made);
    }
    x = shared_x->bytes();
    y = way == "shared" ? shared_y->bytes() : x;
  }
  Fill(x);
  trelu::benchmark::Window window(seconds, 1, server);
  while (!window.over()) {
    // So that no earlier result passes for this one.
    if (verify && x.data() != y.data()) std::ranges::fill(y, std::byte{0xa5});
    const Clock::time_point sent = Clock::now();
    if (const absl::Status status = (*client)->Apply(*spec, x, y, {.alpha = kAlpha});
        !status.ok()) {
      Fail(status.ToString());
    }
    window.Answered(sent);
    if (verify && !IsResult(y)) Fail("a wrong answer");
    if (verify && x.data() == y.data()) Fill(x);
  }
  std::printf("%s\n", window.Report(bytes).c_str());
  return 0;
}
