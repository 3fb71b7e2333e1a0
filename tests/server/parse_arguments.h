// The server's command line, as tests parse it.
#ifndef TRELU_TESTS_SERVER_PARSE_ARGUMENTS_H_
#define TRELU_TESTS_SERVER_PARSE_ARGUMENTS_H_

#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "server/command_line.h"

namespace trelu::server {

struct Outcome {
  std::variant<Options, int> result;
  std::string out;
  std::string err;
};

// `arguments` after the program's name.
inline Outcome Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "trelu-server");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::ostringstream out;
  std::ostringstream err;
  auto result = ParseCommandLine(static_cast<int>(argv.size()), argv.data(), out, err);
  return {std::move(result), out.str(), err.str()};
}

}  // namespace trelu::server

#endif  // TRELU_TESTS_SERVER_PARSE_ARGUMENTS_H_
