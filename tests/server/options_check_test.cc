#include "server/options_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace trelu::server {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 30;

TEST(CheckOptionsTest, TakesTheDefaults) { EXPECT_TRUE(CheckOptions({}, kMemoryBytes).ok()); }

TEST(CheckOptionsTest, TakesPortZeroTwiceAndNoAdmin) {
  Options options;
  options.listen = {"127.0.0.1:0", "127.0.0.1:0"};
  options.admin_listen = "";
  EXPECT_TRUE(CheckOptions(options, kMemoryBytes).ok());
}

TEST(CheckOptionsTest, TakesAPrefixAsLongAsAName) {
  Options options;
  for (const char* slash : {"/", ""}) {
    options.shared_memory_prefix = slash + std::string(NAME_MAX, 'x');
    EXPECT_TRUE(CheckOptions(options, kMemoryBytes).ok()) << slash;
  }
}

struct Contradiction {
  const char* name;
  std::function<void(Options&)> make;
  std::vector<const char*> named;
};
void PrintTo(const Contradiction& row, std::ostream* out) { *out << row.name; }

class ContradictionTest : public testing::TestWithParam<Contradiction> {};

TEST_P(ContradictionTest, IsRefusedNamingTheFlags) {
  Options options;
  GetParam().make(options);
  const absl::Status status = CheckOptions(options, kMemoryBytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* named : GetParam().named) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(named));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, ContradictionTest,
    testing::Values(
        Contradiction{"NoAddress", [](Options& o) { o.listen.clear(); }, {"--listen"}},
        Contradiction{
            "BadAddress", [](Options& o) { o.listen = {"x:70000"}; }, {"--listen", "65535"}},
        Contradiction{"AddressTwice",
                      [](Options& o) {
                        o.listen = {"0.0.0.0:80", "0.0.0.0:80"};
                      },
                      {"--listen", "0.0.0.0:80", "twice"}},
        Contradiction{
            "AdminOnUnix", [](Options& o) { o.admin_listen = "unix:/x"; }, {"--admin-listen"}},
        Contradiction{"AdminOnAnother",
                      [](Options& o) { o.admin_listen = o.listen.front(); },
                      {"--admin-listen", "--listen"}},
        Contradiction{"KeyAlone", [](Options& o) { o.tls_key = "k"; }, {"--tls-key", "--tls-cert"}},
        Contradiction{
            "CertAlone", [](Options& o) { o.tls_cert = "c"; }, {"--tls-cert", "--tls-key"}},
        Contradiction{"ClientCaAlone",
                      [](Options& o) { o.tls_client_ca = "a"; },
                      {"--tls-client-ca", "--tls-cert", "--tls-key"}},
        Contradiction{"NegativeWorkers", [](Options& o) { o.workers = -1; }, {"--workers"}},
        Contradiction{
            "NoMessageFits", [](Options& o) { o.max_message_bytes = 0; }, {"--max-message-bytes"}},
        Contradiction{"MessageBeyondGrpc",
                      [](Options& o) { o.max_message_bytes = kMaxMessageBytes + 1; },
                      {"--max-message-bytes", "2147483647"}},
        Contradiction{"MessageBeyondMemory",
                      [](Options& o) { o.max_message_bytes = kMemoryBytes + 1; },
                      {"--max-message-bytes", "1GiB"}},
        Contradiction{"PrefixWithTwoSlashes",
                      [](Options& o) { o.shared_memory_prefix = "//x"; },
                      {"--shared-memory-prefix", "//x", "no slash after the first byte"}},
        Contradiction{
            "PrefixBeyondNames",
            [](Options& o) { o.shared_memory_prefix = "/" + std::string(NAME_MAX + 1, 'x'); },
            {"--shared-memory-prefix", "/xxx", "at most 255 bytes"}},
        Contradiction{"PrefixBeyondNamesWithoutSlash",
                      [](Options& o) { o.shared_memory_prefix = std::string(NAME_MAX + 1, 'x'); },
                      {"--shared-memory-prefix", "at most 255 bytes"}},
        Contradiction{"BusyForever",
                      [](Options& o) { o.busy_poll = kMaxBusyPoll + std::chrono::microseconds(1); },
                      {"--busy-poll", "10ms"}},
        Contradiction{"NegativeTime",
                      [](Options& o) { o.drain_grace = std::chrono::milliseconds(-1); },
                      {"--drain-grace"}},
        Contradiction{"TimeBeyondGrpc",
                      [](Options& o) { o.max_connection_age = std::chrono::hours(597); },
                      {"--max-connection-age", "596h"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trelu::server
