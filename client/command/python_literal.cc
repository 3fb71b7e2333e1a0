#include "client/command/python_literal.h"

#include <charconv>
#include <system_error>

namespace trelu::command {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";
constexpr std::size_t kShownCharacters = 40;

}  // namespace

bool PythonLiterals::AtEnd() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
  return rest_.empty();
}

bool PythonLiterals::Take(char c) {
  if (AtEnd() || rest_[0] != c) return false;
  rest_.remove_prefix(1);
  return true;
}

std::optional<std::string> PythonLiterals::TakeString() {
  if (AtEnd() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
  const std::size_t end = rest_.find(rest_[0], 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = rest_.substr(1, end - 1);
  if (inside.find('\\') != std::string_view::npos) return std::nullopt;
  rest_.remove_prefix(end + 1);
  return std::string(inside);
}

std::optional<bool> PythonLiterals::TakeBool() {
  if (AtEnd()) return std::nullopt;
  for (const bool value : {false, true}) {
    const std::string_view word = value ? "True" : "False";
    if (rest_.starts_with(word)) {
      rest_.remove_prefix(word.size());
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> PythonLiterals::TakeInteger() {
  if (AtEnd()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) return std::nullopt;
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  if (rest_.starts_with('L')) rest_.remove_prefix(1);
  return value;
}

std::optional<std::vector<std::int64_t>> PythonLiterals::TakeTuple() {
  const std::string_view before = rest_;
  std::vector<std::int64_t> values;
  bool comma = true;  // may the next be an integer?
  if (Take('(')) {
    while (!Take(')')) {
      const std::optional<std::int64_t> value = comma ? TakeInteger() : std::nullopt;
      if (!value) {
        rest_ = before;
        return std::nullopt;
      }
      values.push_back(*value);
      comma = Take(',');
    }
    // (3) is a number in brackets.
    if (values.size() != 1 || comma) return values;
  }
  rest_ = before;
  return std::nullopt;
}

std::string PythonLiterals::Next() {
  if (AtEnd()) return "the end";
  return std::string(rest_.substr(0, kShownCharacters));
}

}  // namespace trelu::command
