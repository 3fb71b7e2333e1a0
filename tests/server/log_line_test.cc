#include "server/log_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace trelu::server {
namespace {

using testing::EndsWith;

std::chrono::system_clock::time_point SomeTime() {
  using namespace std::chrono;
  return sys_days(2026y / January / 31) + hours(12) + milliseconds(123);
}

std::string Text(std::string_view message, const std::vector<LogField>& fields = {}) {
  return FormatLogLine(LogFormat::kText, SomeTime(), LogLevel::kInfo, message, fields);
}

std::string Json(std::string_view message, const std::vector<LogField>& fields = {}) {
  return FormatLogLine(LogFormat::kJson, SomeTime(), LogLevel::kWarning, message, fields);
}

TEST(LogLineTest, IsTextWithTimeLevelMessageAndFields) {
  EXPECT_EQ(Text("ready", {{"address", "0.0.0.0:80"}, {"workers", std::int64_t{2}}, {"s", 0.25}}),
            "2026-01-31T12:00:00.123Z info  ready address=0.0.0.0:80 workers=2 s=0.25\n");
}

TEST(LogLineTest, AlignsLevels) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, SomeTime(), LogLevel::kWarning, "m", {}),
            "2026-01-31T12:00:00.123Z warn  m\n");
  EXPECT_EQ(FormatLogLine(LogFormat::kText, SomeTime(), LogLevel::kError, "m", {}),
            "2026-01-31T12:00:00.123Z error m\n");
}

TEST(LogLineTest, QuotesTextValuesThatNeedIt) {
  EXPECT_THAT(Text("m", {{"a", "two words"}, {"b", "say \"x\""}, {"c", ""}, {"d", "k=v"}}),
              EndsWith(" m a=\"two words\" b=\"say \\\"x\\\"\" c=\"\" d=\"k=v\"\n"));
}

TEST(LogLineTest, KeepsWhatClientsSendOnItsLine) {
  EXPECT_THAT(Text("a\nb", {{"k", "x\r\ny\x1b[31m"}}),
              EndsWith(" a\\x0ab k=\"x\\\\x0d\\\\x0ay\\\\x1b[31m\"\n"));
  // A backslash of the client's own cannot undo the quotes that we set.
  EXPECT_THAT(Text("m", {{"k", "\\\" code=OK x=\""}}),
              EndsWith(" m k=\"\\\\\\\" code=OK x=\\\"\"\n"));
  const std::string json = Json("a\nb", {{"k", "\xff\n"}});
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 1);
  EXPECT_EQ(nlohmann::json::parse(json)["k"], "\\xff\\x0a");
}

TEST(LogLineTest, IsOneJsonObjectInOrder) {
  EXPECT_EQ(Json("ready", {{"address", "a \"b\""}, {"n", std::int64_t{-2}}, {"s", 0.25}}),
            R"({"time":"2026-01-31T12:00:00.123Z","level":"warn","message":"ready",)"
            R"("address":"a \"b\"","n":-2,"s":0.25})"
            "\n");
}

TEST(LogLineTest, WritesANumberThatJsonLacksAsNull) {
  EXPECT_TRUE(nlohmann::json::parse(Json("m", {{"x", std::nan("")}}))["x"].is_null());
}

TEST(LogLineTest, IsNeverTooLongForOneWrite) {
  const std::string quotes(5000, '"');
  const std::vector<LogField> fields(12, LogField{"key", quotes});
  const std::string text = Text(quotes, fields);
  EXPECT_LE(text.size(), kMaxLineBytes);
  EXPECT_THAT(text, EndsWith("...\n"));
  std::vector<LogField> distinct;
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  for (const std::string& key : keys) distinct.push_back({key, quotes});
  const std::string json = Json(quotes, distinct);
  EXPECT_LE(json.size(), kMaxLineBytes);
  EXPECT_EQ(nlohmann::json::parse(json)["truncated"], true);
}

struct PrintableCase {
  const char* name;
  std::string text;
  std::size_t max_bytes;
  std::string printable;
};
void PrintTo(const PrintableCase& row, std::ostream* out) { *out << row.name; }

class PrintableTest : public testing::TestWithParam<PrintableCase> {};

TEST_P(PrintableTest, EscapesAndCuts) {
  const std::string printable = Printable(GetParam().text, GetParam().max_bytes);
  EXPECT_EQ(printable, GetParam().printable);
  EXPECT_LE(printable.size(), GetParam().max_bytes);
}

INSTANTIATE_TEST_SUITE_P(Texts, PrintableTest,
                         testing::Values(PrintableCase{"Empty", "", 10, ""},
                                         PrintableCase{"Plain", "a ~\\", 10, "a ~\\"},
                                         PrintableCase{"Control", std::string("\0\x1f\x7f\x80", 4),
                                                       99, "\\x00\\x1f\\x7f\\x80"},
                                         PrintableCase{"FitsExactly", "abcdef", 6, "abcdef"},
                                         PrintableCase{"Cut", "abcdefg", 6, "abc..."},
                                         PrintableCase{"EscapeFitsExactly", "ab\n", 6, "ab\\x0a"},
                                         PrintableCase{"EscapeIsNotCutApart", "ab\n\n", 8, "ab..."},
                                         PrintableCase{"NoRoomForDots", "abcdef", 2, ".."},
                                         PrintableCase{"NoRoom", "abcdef", 0, ""}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trelu::server
