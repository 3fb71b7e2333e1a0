#include "server/log_line.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <variant>

namespace trelu::server {
namespace {

constexpr std::size_t kMaxMessageBytes = 1024;
constexpr std::size_t kMaxValueBytes = 512;

std::string FormatTime(std::chrono::system_clock::time_point time) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(millis);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  gmtime_r(&whole, &utc);
  std::array<char, 32> text{};
  std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ",
                static_cast<int>((millis - seconds).count()));
  return std::string(text.data(), size) + fraction.data();
}

const char* NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

std::string FormatDouble(double value) {
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.6g", value);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string QuoteIfNeeded(const std::string& value) {
  if (!value.empty() && value.find_first_of(" \"=\\") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string TextValue(const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    return QuoteIfNeeded(Printable(*text, kMaxValueBytes));
  }
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return std::to_string(*number);
  return FormatDouble(std::get<double>(field.value));
}

nlohmann::ordered_json JsonValue(const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    return Printable(*text, kMaxValueBytes);
  }
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return *number;
  return std::get<double>(field.value);
}

std::string FormatText(const std::string& time, LogLevel level, std::string_view message,
                       const std::vector<LogField>& fields) {
  std::string level_name = NameOf(level);
  level_name.resize(5, ' ');
  std::string line = time + ' ' + level_name + ' ' + Printable(message, kMaxMessageBytes);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += TextValue(field);
  }
  return Printable(line, kMaxLineBytes - 1);
}

std::string FormatJson(const std::string& time, LogLevel level, std::string_view message,
                       const std::vector<LogField>& fields) {
  nlohmann::ordered_json object = {
      {"time", time}, {"level", NameOf(level)}, {"message", Printable(message, kMaxMessageBytes)}};
  std::string line = object.dump();
  for (const LogField& field : fields) {
    object[std::string(field.key)] = JsonValue(field);
    std::string longer = object.dump();
    constexpr std::size_t kNote = sizeof(R"(,"truncated":true)");
    if (longer.size() + kNote >= kMaxLineBytes) {
      object.erase(std::string(field.key));
      object["truncated"] = true;
      return object.dump();
    }
    line = std::move(longer);
  }
  return line;
}

}  // namespace

std::string FormatLogLine(LogFormat format, std::chrono::system_clock::time_point time,
                          LogLevel level, std::string_view message,
                          const std::vector<LogField>& fields) {
  const std::string when = FormatTime(time);
  return (format == LogFormat::kJson ? FormatJson(when, level, message, fields)
                                     : FormatText(when, level, message, fields)) +
         '\n';
}

}  // namespace trelu::server
