// The server's flags: names, help, and how a value becomes a field of Options.
#ifndef TRELU_SERVER_FLAGS_H_
#define TRELU_SERVER_FLAGS_H_

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "server/options.h"

namespace trelu::server {

struct Flag {
  std::string name;           // with the dashes
  std::string value_name;     // SIZE, DURATION, ...
  std::string text;           // one line of help
  std::string default_value;  // as the user would write it
  std::string wanted;         // the range, for messages
  // Sets the field; false when the value is not `wanted`.
  std::function<bool(const std::string& value)> set;
  bool repeatable = false;
  std::vector<std::string> values = {};  // what CLI11 found

  // --max-message-bytes is TRELU_MAX_MESSAGE_BYTES.
  std::string Variable() const;
};

// All flags, in the order of the help, bound to `options`, which outlives them; defaults are read
// from it. A deque, since CLI11 keeps references to the values.
std::deque<Flag> MakeFlags(Options& options);

}  // namespace trelu::server

#endif  // TRELU_SERVER_FLAGS_H_
