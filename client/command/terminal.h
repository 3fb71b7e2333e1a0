// What may be written to a terminal that must not be written elsewhere.
#ifndef TRELU_CLIENT_COMMAND_TERMINAL_H_
#define TRELU_CLIENT_COMMAND_TERMINAL_H_

#include <cstdio>

namespace trelu::command {

bool IsTerminal(std::FILE* stream);

// A terminal, and the user did not ask for no colours (NO_COLOR set and not empty, no-color.org; or
// TERM=dumb).
bool UseColor(std::FILE* stream);

// Columns of the terminal; 80 when it does not say.
int TerminalWidth(std::FILE* stream);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_TERMINAL_H_
