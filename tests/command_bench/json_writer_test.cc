#include "client/command/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trelu::command {
namespace {

TEST(JsonWriterTest, NestsAndIndents) {
  JsonWriter json;
  json.Integer("a", UINT64_MAX);
  json.Array("list");
  json.Number("", 0.1);
  json.Object("");
  json.Bool("yes", true);
  json.End();
  json.End();
  json.Object("empty");
  json.End();
  json.Array("none");
  EXPECT_EQ(json.Finish(), R"({
  "a": 18446744073709551615,
  "list": [
    0.1,
    {
      "yes": true
    }
  ],
  "empty": {},
  "none": []
}
)");
}

TEST(JsonWriterTest, EscapesWhatStringsMayNotHold) {
  JsonWriter json;
  json.String("quote\"", "back\\slash \n\x01 tab\t gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(
      json.Finish(),
      "{\n  \"quote\\\"\": \"back\\\\slash \\u000a\\u0001 tab\\u0009 gr\xc3\xbc\xc3\x9f\"\n}\n");
}

TEST(JsonWriterTest, NumbersThatJsonLacksAreStrings) {
  JsonWriter json;
  json.Number("a", std::nan(""));
  json.Number("b", HUGE_VAL);
  json.Number("c", -HUGE_VAL);
  json.Number("d", 1e300);
  json.Number("e", -0.0);
  EXPECT_EQ(
      json.Finish(),
      "{\n  \"a\": \"nan\",\n  \"b\": \"inf\",\n  \"c\": \"-inf\",\n  \"d\": 1e+300,\n  \"e\": "
      "-0\n}\n");
}

}  // namespace
}  // namespace trelu::command
