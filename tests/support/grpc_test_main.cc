// main of test programs that speak gRPC.
#include <absl/synchronization/mutex.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  // The packaged gRPC and Abseil look for deadlocks under one process-wide lock, and abort on false
  // ones.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
