// ThresholdedRelu of four numbers on a server: consumer [TARGET]
#include <absl/synchronization/mutex.h>
#include <trelu/client.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <span>

int main(int argc, char** argv) {
  // Debian's Abseil otherwise looks for deadlocks, under one lock for the whole process.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);

  trelu::ClientOptions options;
  if (argc > 1) options.target = argv[1];
  const auto client = trelu::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }

  std::array<float, 4> x = {-1.0F, 0.5F, 1.5F, 2.0F};
  const std::array<std::int64_t, 2> shape = {2, 2};
  const auto spec = trelu::TensorSpec::Create(trelu::DType::kFloat32, shape);
  const auto bytes = std::as_writable_bytes(std::span(x));
  const absl::Status status = (*client)->Apply(*spec, bytes, bytes, {.alpha = 1.0F});
  if (!status.ok()) {
    std::cerr << status << '\n';
    return 1;
  }
  std::printf("%g %g %g %g\n", x[0], x[1], x[2], x[3]);
  return 0;
}
