// The client library as its users have it: one tensor after the other, by every way that a call
// can take. Prints one line of JSON.
#include <absl/synchronization/mutex.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/allocator.h"
#include "tests/benchmark/load/payload.h"
#include "tests/benchmark/load/window.h"
#include "trelu/client.h"

int main(int argc, char** argv) {
  using trelu::benchmark::Clock;
  using trelu::benchmark::Fail;
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
  const std::string payload = trelu::benchmark::MakePayload(bytes);
  const std::string expected = trelu::benchmark::OperatorOf(payload);
  std::memcpy(x.data(), payload.data(), bytes);
  trelu::benchmark::Window window(seconds, 1, server);
  while (!window.over()) {
    // So that no earlier result passes for this one.
    if (verify && x.data() != y.data()) std::ranges::fill(y, std::byte{0xa5});
    const Clock::time_point sent = Clock::now();
    if (const absl::Status status =
            (*client)->Apply(*spec, x, y, {.alpha = trelu::benchmark::kAlpha});
        !status.ok()) {
      Fail(status.ToString());
    }
    window.Answered(sent);
    if (!verify) continue;
    if (std::memcmp(y.data(), expected.data(), bytes) != 0) Fail("a wrong answer");
    std::memcpy(x.data(), payload.data(), bytes);
  }
  std::printf("%s\n", window.Report(bytes).c_str());
  return 0;
}
