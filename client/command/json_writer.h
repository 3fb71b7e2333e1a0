// Writes JSON (RFC 8259), two spaces a level.
#ifndef TRELU_CLIENT_COMMAND_JSON_WRITER_H_
#define TRELU_CLIENT_COMMAND_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trelu::command {

// One object, begun by the constructor. A name is for a member of an object and stays empty for
// an element of an array.
class JsonWriter {
 public:
  JsonWriter();

  void String(std::string_view name, std::string_view value);
  void Integer(std::string_view name, std::uint64_t value);
  // The shortest digits that read back as `value`. JSON knows neither infinities nor NaN: they
  // become the strings "inf", "-inf" and "nan".
  void Number(std::string_view name, double value);
  void Bool(std::string_view name, bool value);

  // Begin what the matching End() ends.
  void Object(std::string_view name);
  void Array(std::string_view name);
  void End();

  // Ends what is still open and returns the text, with a newline at its end.
  std::string Finish();

 private:
  void Begin(std::string_view name);  // comma, new line, name
  void NewLine();

  std::string text_;
  std::vector<char> closers_;  // of what is open
  bool first_ = true;          // nothing written yet at this level
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_JSON_WRITER_H_
