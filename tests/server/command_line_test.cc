#include "server/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "tests/server/parse_arguments.h"

namespace trelu::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

Options ParseOk(std::vector<std::string> arguments) {
  Outcome outcome = Parse(std::move(arguments));
  EXPECT_TRUE(std::holds_alternative<Options>(outcome.result)) << outcome.err;
  if (!std::holds_alternative<Options>(outcome.result)) return {};
  return std::get<Options>(outcome.result);
}

// Every field, so that the comparison below fails to compile when one is added.
auto Fields(const Options& options) {
  const auto& [listen, admin_listen, workers, inline_bytes, busy_poll, max_message_bytes,
               max_inflight_bytes, max_connection_age, stream_idle_timeout, model_repository,
               model_repository_poll, shared_memory_prefix, max_shared_memory_bytes, tls_cert,
               tls_key, tls_client_ca, reflection, drain_delay, drain_grace, log_format,
               log_calls] = options;
  return std::make_tuple(listen, admin_listen, workers, inline_bytes, busy_poll, max_message_bytes,
                         max_inflight_bytes, max_connection_age, stream_idle_timeout,
                         model_repository, model_repository_poll, shared_memory_prefix,
                         max_shared_memory_bytes, tls_cert, tls_key, tls_client_ca, reflection,
                         drain_delay, drain_grace, log_format, log_calls);
}
constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(Fields({}))>;

template <std::size_t... I>
std::vector<std::size_t> FieldsThatDiffer(const Options& a, const Options& b,
                                          std::index_sequence<I...>) {
  std::vector<std::size_t> differ;
  ((std::get<I>(Fields(a)) != std::get<I>(Fields(b)) ? differ.push_back(I) : void()), ...);
  return differ;
}
std::vector<std::size_t> FieldsThatDiffer(const Options& a, const Options& b) {
  return FieldsThatDiffer(a, b, std::make_index_sequence<kFieldCount>());
}

struct FlagCase {
  const char* flag;
  const char* value;  // other than the default
  const char* variable;
  std::vector<std::string> beside = {};  // what the flag needs
};

// In the order of the fields.
const std::vector<FlagCase>& FlagCases() {
  static const std::vector<FlagCase>& cases = *new std::vector<FlagCase>{
      {"--listen", "127.0.0.1:9", "TRELU_LISTEN"},
      {"--admin-listen", "127.0.0.1:9", "TRELU_ADMIN_LISTEN"},
      {"--workers", "3", "TRELU_WORKERS"},
      {"--inline-bytes", "1k", "TRELU_INLINE_BYTES"},
      {"--busy-poll", "50us", "TRELU_BUSY_POLL"},
      {"--max-message-bytes", "1MiB", "TRELU_MAX_MESSAGE_BYTES"},
      {"--max-inflight-bytes", "2GiB", "TRELU_MAX_INFLIGHT_BYTES"},
      {"--max-connection-age", "1h", "TRELU_MAX_CONNECTION_AGE"},
      {"--stream-idle-timeout", "0", "TRELU_STREAM_IDLE_TIMEOUT"},
      {"--model-repository", "/m", "TRELU_MODEL_REPOSITORY"},
      {"--model-repository-poll", "0", "TRELU_MODEL_REPOSITORY_POLL"},
      {"--shared-memory-prefix", "/trelu-", "TRELU_SHARED_MEMORY_PREFIX"},
      {"--max-shared-memory-bytes", "1GiB", "TRELU_MAX_SHARED_MEMORY_BYTES"},
      {"--tls-cert", "/c", "TRELU_TLS_CERT", {"--tls-key", "/k"}},
      {"--tls-key", "/k", "TRELU_TLS_KEY", {"--tls-cert", "/c"}},
      {"--tls-client-ca", "/a", "TRELU_TLS_CLIENT_CA", {"--tls-cert", "/c", "--tls-key", "/k"}},
      {"--reflection", "false", "TRELU_REFLECTION"},
      {"--drain-delay", "250ms", "TRELU_DRAIN_DELAY"},
      {"--drain-grace", "7", "TRELU_DRAIN_GRACE"},
      {"--log-format", "json", "TRELU_LOG_FORMAT"},
      {"--log-calls", "all", "TRELU_LOG_CALLS"},
  };
  return cases;
}

class CommandLineTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const FlagCase& flag : FlagCases()) unsetenv(flag.variable);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(CommandLineTest, WithoutArgumentsGivesTheDefaults) {
  EXPECT_THAT(FieldsThatDiffer(ParseOk({}), Options()), ElementsAre());
}

TEST_F(CommandLineTest, ReachesEveryFieldByFlag) {
  ASSERT_EQ(FlagCases().size(), kFieldCount);
  std::size_t field = 0;
  for (const FlagCase& flag : FlagCases()) {
    SCOPED_TRACE(flag.flag);
    // Without what must stand beside it, only what it changes itself is left.
    Options base;
    for (std::size_t i = 0; i < flag.beside.size(); i += 2) {
      (flag.beside[i] == "--tls-cert" ? base.tls_cert : base.tls_key) = flag.beside[i + 1];
    }
    for (const bool joined : {false, true}) {
      std::vector<std::string> arguments = flag.beside;
      if (joined) {
        arguments.push_back(std::string(flag.flag) + "=" + flag.value);
      } else {
        arguments.insert(arguments.end(), {flag.flag, flag.value});
      }
      EXPECT_THAT(FieldsThatDiffer(ParseOk(arguments), base), ElementsAre(field));
    }
    ++field;
  }
}

TEST_F(CommandLineTest, ReachesEveryFieldByVariable) {
  for (const FlagCase& flag : FlagCases()) {
    SCOPED_TRACE(flag.variable);
    std::vector<std::string> arguments = flag.beside;
    arguments.insert(arguments.end(), {flag.flag, flag.value});
    const Options by_flag = ParseOk(arguments);
    setenv(flag.variable, flag.value, 1);
    EXPECT_THAT(FieldsThatDiffer(ParseOk(flag.beside), by_flag), ElementsAre());
    unsetenv(flag.variable);
  }
}

TEST_F(CommandLineTest, GivesTheValuesAsWritten) {
  const Options options =
      ParseOk({"--max-message-bytes", "32MiB", "--drain-delay", "250ms", "--drain-grace", "9"});
  EXPECT_EQ(options.max_message_bytes, std::uint64_t{32} << 20);
  EXPECT_EQ(options.drain_delay, std::chrono::milliseconds(250));
  EXPECT_EQ(options.drain_grace, std::chrono::seconds(9));
}

TEST_F(CommandLineTest, AddsUpListenAndSplitsItAtCommas) {
  EXPECT_THAT(ParseOk({"--listen", "[::1]:0", "--listen", "unix:/a"}).listen,
              ElementsAre("[::1]:0", "unix:/a"));
  setenv("TRELU_LISTEN", "a:1,b:2", 1);
  EXPECT_THAT(ParseOk({}).listen, ElementsAre("a:1", "b:2"));
}

TEST_F(CommandLineTest, LetsTheFlagWinOverItsVariable) {
  setenv("TRELU_WORKERS", "5", 1);
  setenv("TRELU_LISTEN", "a:1,b:2", 1);
  const Options options = ParseOk({"--workers", "7", "--listen", "c:3"});
  EXPECT_EQ(options.workers, 7);
  EXPECT_THAT(options.listen, ElementsAre("c:3"));
}

TEST_F(CommandLineTest, LetsTheLastOfAFlagWin) {
  EXPECT_EQ(ParseOk({"--workers", "1", "--workers", "2"}).workers, 2);
}

TEST_F(CommandLineTest, TurnsTheAdminPortOffByNone) {
  EXPECT_EQ(ParseOk({"--admin-listen", "none"}).admin_listen, "");
}

TEST_F(CommandLineTest, TakesAnEmptyVariableAsNotSet) {
  setenv("TRELU_WORKERS", "", 1);
  EXPECT_EQ(ParseOk({}).workers, 0);
}

TEST_F(CommandLineTest, RefusesAnAddressThatIsLeftEmpty) {
  for (const auto& [variable, value] :
       {std::pair("TRELU_LISTEN", ""), {"TRELU_LISTEN", ","}, {"TRELU_ADMIN_LISTEN", ""}}) {
    setenv(variable, value, 1);
    const Outcome outcome = Parse({});
    ASSERT_TRUE(std::holds_alternative<int>(outcome.result)) << variable << value;
    EXPECT_EQ(std::get<int>(outcome.result), 2);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(variable), HasSubstr("needs a value")));
    unsetenv(variable);
  }
  setenv("TRELU_LISTEN", "", 1);
  EXPECT_THAT(ParseOk({"--listen", "c:3"}).listen, ElementsAre("c:3"));
}

TEST_F(CommandLineTest, NamesTheVariableThatIsWrong) {
  setenv("TRELU_DRAIN_GRACE", "soon", 1);
  const Outcome outcome = Parse({});
  ASSERT_TRUE(std::holds_alternative<int>(outcome.result));
  EXPECT_EQ(std::get<int>(outcome.result), 2);
  EXPECT_THAT(outcome.err, HasSubstr("TRELU_DRAIN_GRACE"));
}

TEST_F(CommandLineTest, PrintsTheVersion) {
  const Outcome outcome = Parse({"--version"});
  ASSERT_TRUE(std::holds_alternative<int>(outcome.result));
  EXPECT_EQ(std::get<int>(outcome.result), 0);
  EXPECT_THAT(outcome.out, MatchesRegex("trelu-server [0-9.]+\n"));
}

// "  --flag VALUE   text [default]  (VARIABLE)"
struct HelpLine {
  std::string flag;
  std::string value;
  std::string default_value;
  std::string variable;
};

HelpLine SplitHelpLine(const std::string& text) {
  HelpLine line;
  std::istringstream(text) >> line.flag >> line.value;
  const std::size_t bracket = text.rfind(" [") + 2;
  const std::size_t end = text.rfind("]  (");
  line.default_value = text.substr(bracket, end - bracket);
  line.variable = text.substr(end + 4, text.size() - end - 5);
  return line;
}

TEST_F(CommandLineTest, HelpsWithOneRegularLineAFlag) {
  const Outcome outcome = Parse({"--help"});
  ASSERT_TRUE(std::holds_alternative<int>(outcome.result));
  EXPECT_EQ(std::get<int>(outcome.result), 0);
  EXPECT_EQ(outcome.err, "");
  std::istringstream help(outcome.out);
  std::size_t row = 0;
  for (std::string text; std::getline(help, text);) {
    EXPECT_LE(text.size(), 160U) << text;
    if (text.rfind("  --", 0) != 0 || text.rfind(" exit") != std::string::npos) continue;
    ASSERT_THAT(text, MatchesRegex("  --[a-z-]+ [^ ]+   +[^ ].* \\[[^ ]+\\]  \\(TRELU_[A-Z_]+\\)"));
    const HelpLine line = SplitHelpLine(text);
    ASSERT_LT(row, FlagCases().size());
    EXPECT_EQ(line.flag, FlagCases()[row].flag);
    EXPECT_EQ(line.variable, FlagCases()[row].variable);
    // The default as printed is a value that the flag takes and that changes nothing.
    EXPECT_THAT(FieldsThatDiffer(ParseOk({line.flag, line.default_value}), Options()),
                ElementsAre());
    ++row;
  }
  EXPECT_EQ(row, kFieldCount);
}

}  // namespace
}  // namespace trelu::server
