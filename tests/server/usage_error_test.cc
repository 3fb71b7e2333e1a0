#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "tests/server/parse_arguments.h"

namespace trelu::server {
namespace {

using testing::HasSubstr;

struct UsageError {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<const char*> told;
};
void PrintTo(const UsageError& row, std::ostream* out) { *out << row.name; }

class UsageErrorTest : public testing::TestWithParam<UsageError> {};

TEST_P(UsageErrorTest, ExitsWithTwoAndSaysWhy) {
  const Outcome outcome = Parse(GetParam().arguments);
  ASSERT_TRUE(std::holds_alternative<int>(outcome.result));
  EXPECT_EQ(std::get<int>(outcome.result), 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const char* told : GetParam().told) EXPECT_THAT(outcome.err, HasSubstr(told));
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, UsageErrorTest,
    testing::Values(
        UsageError{"UnknownFlag", {"--port=80"}, {"--port=80"}},
        UsageError{"UnknownShortFlag", {"-p"}, {"-p"}},
        UsageError{"Positional", {"serve"}, {"serve"}},
        UsageError{"PositionalAfterListen", {"--listen", "a:1", "b:2"}, {"b:2"}},
        UsageError{"MissingValueAtEnd", {"--workers"}, {"--workers"}},
        UsageError{"MissingValueBeforeFlag",
                   {"--tls-cert", "--tls-key", "k"},
                   {"--tls-cert", "needs a value"}},
        UsageError{"EmptyNumber", {"--workers", ""}, {"--workers", "from 0 to 1024"}},
        UsageError{"NegativeCount",
                   {"--workers", "-1"},
                   {"--workers", "TRELU_WORKERS", "\"-1\"", "from 0 to 1024"}},
        UsageError{"CountWithTail", {"--workers", "2x"}, {"--workers", "from 0 to 1024"}},
        UsageError{"CountTooLarge", {"--workers", "1025"}, {"--workers", "from 0 to 1024"}},
        UsageError{"NegativeSize",
                   {"--max-message-bytes=-1"},
                   {"--max-message-bytes", "\"-1\"", "from 1 to 2147483647"}},
        UsageError{"NegativeSizeApart", {"--inline-bytes", "-1"}, {"--inline-bytes", "from 0 to"}},
        UsageError{
            "SizeTooLarge", {"--max-message-bytes", "2GiB"}, {"--max-message-bytes", "2147483647"}},
        UsageError{"SizeZero", {"--max-message-bytes", "0"}, {"--max-message-bytes", "from 1"}},
        UsageError{"NegativeTime", {"--drain-delay", "-5s"}, {"--drain-delay", "0 to 596h"}},
        UsageError{"TimeTooLarge", {"--drain-delay", "597h"}, {"--drain-delay", "0 to 596h"}},
        UsageError{"TimeTooFine", {"--drain-delay", "1500us"}, {"--drain-delay", "steps of 1ms"}},
        UsageError{"BusyTooLong", {"--busy-poll", "11ms"}, {"--busy-poll", "0 to 10ms"}},
        UsageError{
            "TimeWithoutUnit", {"--drain-delay", "5 s"}, {"--drain-delay", "us, ms, s, m, h"}},
        UsageError{"UnknownChoice", {"--log-format", "xml"}, {"--log-format", "text|json"}},
        UsageError{"UnknownBoolean", {"--reflection", "maybe"}, {"--reflection", "true|false"}},
        UsageError{"PortWord", {"--listen", "h:abc"}, {"--listen", "0 to 65535"}},
        UsageError{"PortNegative", {"--listen", "h:-1"}, {"--listen", "0 to 65535"}},
        UsageError{"PortTooLarge", {"--listen", "h:65536"}, {"--listen", "0 to 65535"}},
        UsageError{"PortWithTail", {"--listen", "h:80;rm"}, {"--listen", "0 to 65535"}},
        UsageError{
            "AdminPortTooLarge", {"--admin-listen", "h:65536"}, {"--admin-listen", "0 to 65535"}},
        UsageError{"KeyWithoutCert", {"--tls-key", "k"}, {"--tls-key", "--tls-cert"}},
        UsageError{
            "ClientCaWithoutCert", {"--tls-client-ca", "k"}, {"--tls-client-ca", "--tls-cert"}},
        UsageError{"ControlBytes", {"--log-format", "a\nb"}, {"a\\x0ab"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trelu::server
