#include "server/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace trelu::server {
namespace {

using testing::HasSubstr;

TEST(AddressTest, ReadsWhatItWrites) {
  for (const char* text : {"0.0.0.0:8001", "localhost:0", "[::1]:65535", "[::]:80",
                           "unix:/run/trelu.sock", "example.org:443"}) {
    const absl::StatusOr<Address> address = ParseAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
}

TEST(AddressTest, TakesAHostOutOfItsBrackets) {
  const absl::StatusOr<Address> address = ParseAddress("[::1]:8001");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 8001);
  EXPECT_FALSE(address->is_unix());
}

TEST(AddressTest, KeepsAUnixPathWhole) {
  const absl::StatusOr<Address> address = ParseAddress("unix:/tmp/a:b,c");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->unix_path, "/tmp/a:b,c");
  EXPECT_TRUE(address->is_unix());
}

struct BadAddress {
  const char* name;
  std::string text;
  const char* told;
};
void PrintTo(const BadAddress& row, std::ostream* out) { *out << row.name; }

class BadAddressTest : public testing::TestWithParam<BadAddress> {};

TEST_P(BadAddressTest, IsRefusedWithAReason) {
  const absl::StatusOr<Address> address = ParseAddress(GetParam().text);
  EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(address.status().message()), HasSubstr(GetParam().told));
}

constexpr char kPort[] = "from 0 to 65535";

INSTANTIATE_TEST_SUITE_P(
    Texts, BadAddressTest,
    testing::Values(
        BadAddress{"Empty", "", "host:port"}, BadAddress{"NoPort", "localhost", "host:port"},
        BadAddress{"NoHost", ":8001", "host:port"}, BadAddress{"EmptyPort", "localhost:", kPort},
        BadAddress{"NegativePort", "localhost:-1", kPort},
        BadAddress{"LargePort", "localhost:65536", kPort},
        BadAddress{"WordPort", "localhost:abc", kPort},
        BadAddress{"PortWithTail", "localhost:80;rm", kPort},
        BadAddress{"PlusPort", "localhost:+80", kPort},
        BadAddress{"BareV6", "::1:8001", "brackets"},
        BadAddress{"BracketedV4", "[127.0.0.1]:8001", "brackets"},
        BadAddress{"UnclosedBracket", "[::1:8001", "brackets"},
        BadAddress{"Space", "a b:80", "host:port"},
        BadAddress{"Url", "http://host:80", "host:port"},
        BadAddress{"RelativeUnixPath", "unix:trelu.sock", "absolute path"},
        BadAddress{"EmptyUnixPath", "unix:", "absolute path"},
        BadAddress{"LongUnixPath", "unix:/" + std::string(107, 'a'), "at most 107 bytes"},
        BadAddress{"Control", "\n\x01:80:", "\\x0a\\x01"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trelu::server
