#include "server/units.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

namespace trelu::server {
namespace {

struct BytesCase {
  const char* name;
  const char* text;
  std::optional<std::uint64_t> bytes;
};
void PrintTo(const BytesCase& row, std::ostream* out) { *out << row.name; }

class ParseBytesTest : public testing::TestWithParam<BytesCase> {};

TEST_P(ParseBytesTest, GivesTheBytesOrNothing) {
  EXPECT_EQ(ParseBytes(GetParam().text), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ParseBytesTest,
    testing::Values(
        BytesCase{"Plain", "65536", 65536}, BytesCase{"Zero", "0", 0},
        BytesCase{"Letter", "256k", 262144}, BytesCase{"UpperLetter", "256K", 262144},
        BytesCase{"WithB", "1kb", 1024}, BytesCase{"Binary", "64MiB", std::uint64_t{64} << 20},
        BytesCase{"LowerBinary", "2gib", std::uint64_t{2} << 30},
        BytesCase{"Tera", "1T", std::uint64_t{1} << 40}, BytesCase{"BytesUnit", "7B", 7},
        BytesCase{"Largest", "18446744073709551615", 18446744073709551615U},
        BytesCase{"LargestWithUnit", "16777215T", std::uint64_t{16777215} << 40},
        BytesCase{"TooLarge", "18446744073709551616", std::nullopt},
        BytesCase{"UnitOverflows", "16777216T", std::nullopt},
        BytesCase{"Negative", "-1", std::nullopt}, BytesCase{"Plus", "+1", std::nullopt},
        BytesCase{"Empty", "", std::nullopt}, BytesCase{"UnitAlone", "MiB", std::nullopt},
        BytesCase{"Fraction", "1.5M", std::nullopt}, BytesCase{"Space", "1 MiB", std::nullopt},
        BytesCase{"UnknownUnit", "1x", std::nullopt}, BytesCase{"Tail", "1MiBx", std::nullopt},
        BytesCase{"HalfUnit", "1Mi", std::nullopt}, BytesCase{"Hex", "0x10", std::nullopt}),
    [](const auto& row) { return row.param.name; });

struct DurationCase {
  const char* name;
  const char* text;
  std::optional<std::int64_t> microseconds;
};
void PrintTo(const DurationCase& row, std::ostream* out) { *out << row.name; }

class ParseDurationTest : public testing::TestWithParam<DurationCase> {};

TEST_P(ParseDurationTest, GivesTheTimeOrNothing) {
  const auto duration = ParseDuration(GetParam().text);
  ASSERT_EQ(duration.has_value(), GetParam().microseconds.has_value());
  EXPECT_EQ(duration.value_or(std::chrono::microseconds(0)).count(),
            GetParam().microseconds.value_or(0));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ParseDurationTest,
    testing::Values(
        DurationCase{"Microseconds", "50us", 50}, DurationCase{"Milliseconds", "250ms", 250000},
        DurationCase{"Seconds", "30s", 30000000}, DurationCase{"Minutes", "5m", 300000000},
        DurationCase{"Hours", "1h", 3600000000}, DurationCase{"PlainIsSeconds", "7", 7000000},
        DurationCase{"Zero", "0", 0}, DurationCase{"Negative", "-1s", std::nullopt},
        DurationCase{"Empty", "", std::nullopt}, DurationCase{"UnitAlone", "ms", std::nullopt},
        DurationCase{"UpperCase", "1H", std::nullopt},
        DurationCase{"Fraction", "1.5s", std::nullopt},
        DurationCase{"UnknownUnit", "1d", std::nullopt},
        DurationCase{"Overflow", "9223372036854775807h", std::nullopt}),
    [](const auto& row) { return row.param.name; });

TEST(FormatBytesTest, IsReadBackAsTheSame) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1024},
        std::uint64_t{1} << 20, (std::uint64_t{1} << 31) - 1, std::uint64_t{3} << 40,
        ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    EXPECT_EQ(ParseBytes(FormatBytes(bytes)), bytes) << FormatBytes(bytes);
  }
  EXPECT_EQ(FormatBytes(std::uint64_t{64} << 20), "64MiB");
}

TEST(FormatDurationTest, IsReadBackAsTheSame) {
  for (const std::int64_t count : {0L, 1L, 999L, 1000L, 1500L, 60000000L, 90000000L, 3600000000L}) {
    const std::chrono::microseconds duration(count);
    EXPECT_EQ(ParseDuration(FormatDuration(duration)), duration) << FormatDuration(duration);
  }
  EXPECT_EQ(FormatDuration(std::chrono::minutes(30)), "30m");
}

}  // namespace
}  // namespace trelu::server
