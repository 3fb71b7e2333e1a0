// What the user asked to see.
#ifndef TRELU_CLIENT_COMMAND_STANDARD_OUTPUT_H_
#define TRELU_CLIENT_COMMAND_STANDARD_OUTPUT_H_

#include <string>

#include "client/command/exit_codes.h"

namespace trelu::command {

// Writes `text` to stdout, at once. kBadOutput, said on stderr, when it cannot all be written: a
// full disk or a reader that is gone must not look like success.
ExitCode Print(const std::string& text);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_STANDARD_OUTPUT_H_
