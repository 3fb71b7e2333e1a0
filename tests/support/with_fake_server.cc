// with_fake_server COMMAND [ARGUMENT...]: runs the command with the target of a fake server as its
// last argument, and exits as it does.
#include <absl/synchronization/mutex.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/fake_server.h"

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc < 2) {
    std::fputs("usage: with_fake_server COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  const trelu::testing::FakeServer server;
  std::string target = server.target();
  std::vector<char*> arguments(argv + 1, argv + argc);
  arguments.push_back(target.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    std::perror(arguments[0]);
    return 1;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}
