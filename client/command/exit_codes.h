// What the command tells a script by its exit status.
#ifndef TRELU_CLIENT_COMMAND_EXIT_CODES_H_
#define TRELU_CLIENT_COMMAND_EXIT_CODES_H_

#include <absl/status/status.h>

#include <string>

namespace trelu::command {

// Fixed: scripts rely on the numbers. The texts are in ExitCodesHelp().
enum ExitCode : int {
  kOk = 0,
  kInternal = 1,
  kUsage = 2,
  kBadInput = 3,
  kRefused = 4,
  kUnavailable = 5,
  kDeadline = 6,
  kTooLarge = 7,
  kBadOutput = 8,
  kNotServing = 9,
  kWrongAnswer = 10,
};

// The exit code of a call to a server that ended with `status`.
ExitCode ExitCodeOfCall(const absl::Status& status);

// One line per code, for --help.
std::string ExitCodesHelp();

// Writes "trelu: <subject>: <message>\n" to stderr, one line, with whatever is not printable ASCII
// escaped; coloured on a terminal. Returns `code`, so that a failure is reported and returned at
// once.
ExitCode Fail(ExitCode code, const std::string& subject, const std::string& message);

// The same for a call to the server at `target` that failed: names the status code, and the exit
// code is ExitCodeOfCall's.
ExitCode FailCall(const std::string& target, const absl::Status& status);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_EXIT_CODES_H_
