// The little Python that headers of .npy files are written in.
#ifndef TRELU_CLIENT_COMMAND_PYTHON_LITERAL_H_
#define TRELU_CLIENT_COMMAND_PYTHON_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trelu::command {

// Takes one literal after the other off the front of a text; white space between them is skipped.
// Each function consumes what it returns, or nothing.
class PythonLiterals {
 public:
  // Refers to `text`.
  explicit PythonLiterals(std::string_view text) : rest_(text) {}

  bool AtEnd();
  // One punctuation character.
  bool Take(char c);
  // '...' or "...", without escapes, which no header has.
  std::optional<std::string> TakeString();
  // True or False.
  std::optional<bool> TakeBool();
  // (), (3,), (2, 3) or (2, 3,), also with Python 2's long integers (3L,). A number outside int64
  // is no tuple.
  std::optional<std::vector<std::int64_t>> TakeTuple();

  // What follows, cut to a length that fits an error message; "the end" at the end.
  std::string Next();

 private:
  std::optional<std::int64_t> TakeInteger();

  std::string_view rest_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_PYTHON_LITERAL_H_
