#include "client/command/number_arguments.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cstdlib>

namespace trelu::command {

absl::StatusOr<float> ParseAlpha(const std::string& text) {
  // strtof rounds correctly, decimal and hexadecimal alike; this program never leaves the C locale.
  char* end = nullptr;
  const float alpha = std::strtof(text.c_str(), &end);
  const bool all = end == text.c_str() + text.size();
  // strtof also takes spaces in front, and "nan(...)".
  if (text.empty() || absl::ascii_isspace(static_cast<unsigned char>(text[0])) || !all ||
      text.find('(') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\": expected a number such as 0.1, -1e-3, 0x1.8p+1, inf or nan"));
  }
  return alpha;
}

absl::StatusOr<std::vector<std::int64_t>> ParseShape(const std::string& text) {
  std::vector<std::int64_t> dims;
  if (text.empty()) return dims;
  for (const absl::string_view piece : absl::StrSplit(text, ',')) {
    std::int64_t dim = 0;
    if (!absl::SimpleAtoi(piece, &dim)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", text, "\": expected whole numbers with commas between them, such as 2,3"));
    }
    dims.push_back(dim);
  }
  return dims;
}

}  // namespace trelu::command
