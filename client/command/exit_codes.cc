#include "client/command/exit_codes.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <cstdio>

#include "client/command/terminal.h"

namespace trelu::command {
namespace {

// Names and messages may hold what a file or a server sent.
std::string Printable(const std::string& text) {
  std::string printable;
  for (const char c : text) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      printable += c;
    } else {
      absl::StrAppend(&printable, absl::CHexEscape(std::string(1, c)));
    }
  }
  return printable;
}

}  // namespace

ExitCode ExitCodeOfCall(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kRefused;
    case absl::StatusCode::kUnavailable:
      return kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
      return kDeadline;
    case absl::StatusCode::kResourceExhausted:
      return kTooLarge;
    case absl::StatusCode::kDataLoss:
      return kWrongAnswer;
    default:
      return kInternal;
  }
}

std::string ExitCodesHelp() {
  return "Exit codes:\n"
         "  0   done\n"
         "  1   an internal error, here or in the server\n"
         "  2   the command line is wrong\n"
         "  3   the input file cannot be read or is wrong\n"
         "  4   the server refuses the request: wrong, unknown, switched off or not permitted\n"
         "  5   the server cannot be reached, or is full or draining, after all tries\n"
         "  6   out of time (--timeout)\n"
         "  7   larger than the server allows\n"
         "  8   the output cannot be written\n"
         "  9   the server says that it is not serving (health)\n"
         "  10  the answer is not what it should be (--verify, or the wrong size)\n";
}

ExitCode Fail(ExitCode code, const std::string& subject, const std::string& message) {
  const bool color = UseColor(stderr);
  const std::string line =
      absl::StrCat(color ? "\033[1;31mtrelu:\033[0m " : "trelu: ", Printable(subject), ": ",
                   Printable(message), "\n");
  std::fputs(line.c_str(), stderr);
  return code;
}

ExitCode FailCall(const std::string& target, const absl::Status& status) {
  return Fail(ExitCodeOfCall(status), target,
              absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message()));
}

}  // namespace trelu::command
