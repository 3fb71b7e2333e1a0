#include "server/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace trelu::server {
namespace {

constexpr std::string_view kSizeLetters = "kmgt";

struct DurationUnit {
  std::string_view suffix;
  std::int64_t microseconds;
};
// The largest first, as FormatDuration wants them.
constexpr std::array<DurationUnit, 5> kDurationUnits = {
    {{"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

struct Quantity {
  std::uint64_t number;
  std::string_view unit;
};

std::optional<Quantity> Split(std::string_view text) {
  Quantity quantity{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, quantity.number);
  if (error != std::errc()) return std::nullopt;
  quantity.unit = {rest, static_cast<std::size_t>(end - rest)};
  return quantity;
}

}  // namespace

std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  const std::optional<Quantity> quantity = Split(text);
  if (!quantity) return std::nullopt;
  std::string unit(quantity->unit);
  std::transform(unit.begin(), unit.end(), unit.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (unit.empty() || unit == "b") return quantity->number;
  const std::size_t power = kSizeLetters.find(unit.front());
  const std::string tail = unit.substr(1);
  if (power == std::string_view::npos || !(tail.empty() || tail == "b" || tail == "ib")) {
    return std::nullopt;
  }
  const std::size_t shift = 10 * (power + 1);
  if (quantity->number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return quantity->number << shift;
}

std::optional<std::chrono::microseconds> ParseDuration(std::string_view text) {
  const std::optional<Quantity> quantity = Split(text);
  if (!quantity) return std::nullopt;
  const std::string_view suffix = quantity->unit.empty() ? "s" : quantity->unit;
  for (const DurationUnit& unit : kDurationUnits) {
    if (suffix != unit.suffix) continue;
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / unit.microseconds;
    if (quantity->number > static_cast<std::uint64_t>(most)) return std::nullopt;
    return std::chrono::microseconds(static_cast<std::int64_t>(quantity->number) *
                                     unit.microseconds);
  }
  return std::nullopt;
}

std::string FormatBytes(std::uint64_t bytes) {
  std::size_t power = 0;
  while (bytes != 0 && bytes % 1024 == 0 && power < kSizeLetters.size()) {
    bytes /= 1024;
    ++power;
  }
  std::string text = std::to_string(bytes);
  if (power == 0) return text;
  text += static_cast<char>(kSizeLetters[power - 1] - 'a' + 'A');
  return text + "iB";
}

std::string FormatDuration(std::chrono::microseconds duration) {
  if (duration.count() == 0) return "0s";
  for (const DurationUnit& unit : kDurationUnits) {
    if (duration.count() % unit.microseconds == 0) {
      return std::to_string(duration.count() / unit.microseconds).append(unit.suffix);
    }
  }
  return {};
}

std::string ExactText(float value) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), written.ptr};
}

}  // namespace trelu::server
