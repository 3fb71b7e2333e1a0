#include "client/command/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace trelu::command {

ExitCode Print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return kOk;
  return Fail(kBadOutput, "stdout", std::generic_category().message(errno));
}

}  // namespace trelu::command
