#include "client/command/bench/quantities.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <array>
#include <cmath>

namespace trelu::command {
namespace {

struct Unit {
  const char* name;
  double size;
};

// Splits "12.5ms" behind the number.
std::pair<std::string, std::string> SplitUnit(const std::string& text) {
  const std::size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
  return {text.substr(0, unit), text.substr(unit)};
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseBytes(const std::string& text) {
  constexpr std::array<std::pair<const char*, std::uint64_t>, 9> kUnits = {
      {{"", 1},
       {"B", 1},
       {"kB", 1'000},
       {"MB", 1'000'000},
       {"GB", 1'000'000'000},
       {"KiB", std::uint64_t{1} << 10},
       {"MiB", std::uint64_t{1} << 20},
       {"GiB", std::uint64_t{1} << 30},
       {"TiB", std::uint64_t{1} << 40}}};
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;
  const auto [digits, unit] = SplitUnit(text);
  std::uint64_t number = 0;
  for (const auto& [name, size] : kUnits) {
    if (unit == name && absl::SimpleAtoi(digits, &number) && number <= kLargest / size) {
      return number * size;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not a size: expected for example 64, 4KiB, 1MiB or 1GB"));
}

absl::StatusOr<std::chrono::nanoseconds> ParseDuration(const std::string& text) {
  constexpr std::array<Unit, 6> kUnits = {
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}}};
  constexpr double kLargest = 86400;
  const auto [digits, unit] = SplitUnit(text);
  double number = 0;
  for (const Unit& known : kUnits) {
    if (unit == known.name && absl::SimpleAtod(digits, &number) &&
        number * known.size <= kLargest) {
      return std::chrono::nanoseconds(std::llround(number * known.size * 1e9));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text,
      "\" is not a duration: expected for example 10s, 500ms, 1.5s or 2m, at most 24h"));
}

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return absl::StrCat(bytes, " ", kUnits[unit]);
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  constexpr std::array<Unit, 4> kUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const auto ns = static_cast<double>(duration.count());
  std::size_t unit = 0;
  // What rounds to 1000 of a unit is 1 of the next.
  while (unit + 1 < kUnits.size() && ns >= 999.5 * kUnits[unit].size) ++unit;
  const double value = ns / kUnits[unit].size;
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return absl::StrFormat("%.*f%s", decimals, value, kUnits[unit].name);
}

}  // namespace trelu::command
