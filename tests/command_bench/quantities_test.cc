#include "client/command/bench/quantities.h"

#include <gmock/gmock.h>

namespace trelu::command {
namespace {

using std::chrono::nanoseconds;

struct BytesCase {
  std::string text;
  std::optional<std::uint64_t> bytes;
};

TEST(QuantitiesTest, BytesAreParsed) {
  const BytesCase cases[] = {
      {"0", 0},
      {"64", 64},
      {"64B", 64},
      {"4KiB", 4096},
      {"4kB", 4000},
      {"1MiB", 1 << 20},
      {"1MB", 1'000'000},
      {"3GiB", std::uint64_t{3} << 30},
      {"1GB", 1'000'000'000},
      {"4194304TiB", std::uint64_t{1} << 62},
      {"4194305TiB", {}},
      {"99999999999999999999", {}},
      {"", {}},
      {"MiB", {}},
      {"-1", {}},
      {"1.5MiB", {}},
      {"1 MiB", {}},
      {"1M", {}},
      {"1mib", {}},
      {"0x10", {}},
      {"nan", {}},
  };
  for (const BytesCase& row : cases) {
    const auto bytes = ParseBytes(row.text);
    ASSERT_EQ(bytes.ok(), row.bytes.has_value()) << row.text << ": " << bytes.status();
    if (row.bytes) {
      EXPECT_EQ(*bytes, *row.bytes) << row.text;
    }
  }
  EXPECT_THAT(std::string(ParseBytes("1M").status().message()), testing::HasSubstr("\"1M\""));
}

struct DurationCase {
  std::string text;
  std::optional<nanoseconds> duration;
};

TEST(QuantitiesTest, DurationsAreParsed) {
  const DurationCase cases[] = {
      {"0", nanoseconds(0)},
      {"10", std::chrono::seconds(10)},
      {"10s", std::chrono::seconds(10)},
      {"1.5s", std::chrono::milliseconds(1500)},
      {"500ms", std::chrono::milliseconds(500)},
      {"7us", std::chrono::microseconds(7)},
      {"2m", std::chrono::minutes(2)},
      {"24h", std::chrono::hours(24)},
      {"25h", {}},
      {"", {}},
      {"s", {}},
      {"-1s", {}},
      {"1e3s", {}},
      {"1 s", {}},
      {"1..5s", {}},
      {"inf", {}},
      {"nan", {}},
      {"10x", {}},
  };
  for (const DurationCase& row : cases) {
    const auto duration = ParseDuration(row.text);
    ASSERT_EQ(duration.ok(), row.duration.has_value()) << row.text << ": " << duration.status();
    if (row.duration) {
      EXPECT_EQ(*duration, *row.duration) << row.text;
    }
  }
}

TEST(QuantitiesTest, BytesAreShownExactly) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(64), "64 B");
  EXPECT_EQ(FormatBytes(1000), "1000 B");
  EXPECT_EQ(FormatBytes(1536), "1536 B");
  EXPECT_EQ(FormatBytes(1 << 20), "1 MiB");
  EXPECT_EQ(FormatBytes(std::uint64_t{2048} << 40), "2048 TiB");
}

TEST(QuantitiesTest, DurationsHaveThreeDigits) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0ns"},
      {850, "850ns"},
      {999, "999ns"},
      {1'000, "1.00us"},
      {9'994, "9.99us"},
      {9'996, "10.0us"},
      {12'345, "12.3us"},
      {99'940, "99.9us"},
      {99'960, "100us"},
      {999'400, "999us"},
      {999'600, "1.00ms"},
      {1'234'567, "1.23ms"},
      {2'050'000'000, "2.05s"},
      {123'000'000'000, "123s"},
      {4'000'000'000'000, "4000s"},
  };
  for (const auto& [ns, text] : cases) EXPECT_EQ(FormatDuration(nanoseconds(ns)), text) << ns;
}

}  // namespace
}  // namespace trelu::command
