#include "client/command/json_writer.h"

#include <absl/strings/str_format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace trelu::command {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += absl::StrFormat("\\u%04x", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace

JsonWriter::JsonWriter() : text_("{"), closers_({'}'}) {}

void JsonWriter::String(std::string_view name, std::string_view value) {
  Begin(name);
  text_ += Quoted(value);
}

void JsonWriter::Integer(std::string_view name, std::uint64_t value) {
  Begin(name);
  text_ += std::to_string(value);
}

void JsonWriter::Number(std::string_view name, double value) {
  if (std::isnan(value)) return String(name, "nan");
  if (std::isinf(value)) return String(name, value < 0 ? "-inf" : "inf");
  Begin(name);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
}

void JsonWriter::Bool(std::string_view name, bool value) {
  Begin(name);
  text_ += value ? "true" : "false";
}

void JsonWriter::Object(std::string_view name) {
  Begin(name);
  text_ += '{';
  closers_.push_back('}');
  first_ = true;
}

void JsonWriter::Array(std::string_view name) {
  Begin(name);
  text_ += '[';
  closers_.push_back(']');
  first_ = true;
}

void JsonWriter::End() {
  const char closer = closers_.back();
  closers_.pop_back();
  if (!first_) NewLine();
  text_ += closer;
  first_ = false;
}

std::string JsonWriter::Finish() {
  while (!closers_.empty()) End();
  text_ += '\n';
  return std::move(text_);
}

void JsonWriter::Begin(std::string_view name) {
  if (!first_) text_ += ',';
  first_ = false;
  NewLine();
  if (!name.empty()) text_ += Quoted(name) + ": ";
}

void JsonWriter::NewLine() {
  text_ += '\n';
  text_.append(2 * closers_.size(), ' ');
}

}  // namespace trelu::command
