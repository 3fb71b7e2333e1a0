// The flags and environment variables of trelu-server, read into Options.
#ifndef TRELU_SERVER_COMMAND_LINE_H_
#define TRELU_SERVER_COMMAND_LINE_H_

#include <iosfwd>
#include <variant>

#include "server/options.h"

namespace trelu::server {

// The options, or the exit code to leave with: 0 after --help or --version (text to `out`), 2 after
// a wrong or contradictory flag or variable (one line to `err` that names the flag and what it
// takes). A flag wins over its variable; of a flag given twice the last wins, but --listen adds up.
// Call before other threads exist: it reads the environment.
std::variant<Options, int> ParseCommandLine(int argc, char** argv, std::ostream& out,
                                            std::ostream& err);

}  // namespace trelu::server

#endif  // TRELU_SERVER_COMMAND_LINE_H_
