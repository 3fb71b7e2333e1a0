// The binary trelu-server, as scripts and supervisors see it: exit codes, the ready line, signals,
// and addresses that are taken.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/metrics_page.h"
#include "tests/support/native_client.h"
#include "tests/support/server_process.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

using Arguments = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

class Binary : public ::testing::Test {
 protected:
  Binary() { std::filesystem::create_directory(directory_); }
  ~Binary() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ / name; }
  std::string Unix(const std::string& name) const { return "unix:" + Path(name); }

 private:
  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("trelu-binary-" + std::to_string(getpid()));
};

bool Answers(const std::string& target) {
  const WireTensorCase tensor = {DType::kFloat16, {1}, std::nullopt, std::string("\0\x40", 2)};
  const auto result = ParseResponse(NativeClient(target).Apply(ToRequest(tensor)).message);
  return result && result->Is(tensor, tensor.data);
}

const Arguments kAnyPort = {"--listen",    "127.0.0.1:0",   "--admin-listen",
                            "127.0.0.1:0", "--drain-delay", "0"};

TEST_F(Binary, SaysOnOneLineWhereItListens) {
  ServerProcess server(kAnyPort);
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  const std::regex line(
      R"(trelu-server \d+\.\d+\.\d+ ready listen=127\.0\.0\.1:[1-9]\d* admin=127\.0\.0\.1:[1-9]\d*)");
  EXPECT_TRUE(std::regex_match(server.ready_line(), line)) << server.ready_line();
  EXPECT_EQ(server.out(), server.ready_line() + "\n");
  EXPECT_TRUE(Answers(server.target()));
  EXPECT_EQ(HttpGet(server.admin_address(), "/readyz"), "ok\n");
  EXPECT_EQ(HttpGet(server.admin_address(), "/livez"), "ok\n");
}

TEST_F(Binary, ListensOnSeveralAddressesAtOnce) {
  ServerProcess server({"--listen", "127.0.0.1:0", "--listen", Unix("one"), "--listen",
                        "127.0.0.1:0", "--listen", Unix("two"), "--admin-listen", "none"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(Answers(server.target(i))) << server.target(i);
  EXPECT_EQ(server.target(1), Unix("one"));
  EXPECT_EQ(server.target(3), Unix("two"));
  EXPECT_NE(server.target(0), server.target(2));
  EXPECT_EQ(server.admin_address(), "");
}

TEST_F(Binary, TakesAddressesFromTheEnvironment) {
  ServerProcess server({}, {"TRELU_LISTEN=127.0.0.1:0," + Unix("env"), "TRELU_ADMIN_LISTEN=none"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  EXPECT_TRUE(Answers(server.target(0)));
  EXPECT_TRUE(Answers(server.target(1)));
}

TEST_F(Binary, RefusesATcpPortInUse) {
  ServerProcess first(kAnyPort);
  ASSERT_TRUE(first.WaitUntilReady()) << first.err();
  ServerProcess second({"--listen", first.target(), "--admin-listen", "none"});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_NE(second.err().find(first.target()), std::string::npos) << second.err();
  EXPECT_EQ(second.out(), "");
  EXPECT_TRUE(Answers(first.target()));
}

TEST_F(Binary, RefusesAnAdminPortInUse) {
  ServerProcess first(kAnyPort);
  ASSERT_TRUE(first.WaitUntilReady()) << first.err();
  ServerProcess second({"--listen", "127.0.0.1:0", "--admin-listen", first.admin_address()});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_NE(second.err().find(first.admin_address()), std::string::npos) << second.err();
  EXPECT_EQ(HttpGet(first.admin_address(), "/livez"), "ok\n");
}

TEST_F(Binary, RefusesAUnixPathInUseAndLeavesItAlone) {
  ServerProcess first({"--listen", Unix("socket"), "--admin-listen", "none"});
  ASSERT_TRUE(first.WaitUntilReady()) << first.err();
  ServerProcess second({"--listen", Unix("socket"), "--admin-listen", "none"});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_NE(second.err().find(Unix("socket") + ": address in use"), std::string::npos)
      << second.err();
  EXPECT_TRUE(Answers(first.target()));
}

TEST_F(Binary, TakesOverTheSocketFileOfADeadServer) {
  {
    ServerProcess dead({"--listen", Unix("socket"), "--admin-listen", "none"});
    ASSERT_TRUE(dead.WaitUntilReady()) << dead.err();
    dead.Signal(SIGKILL);
    EXPECT_EQ(dead.Wait(), -SIGKILL);
  }
  ASSERT_TRUE(std::filesystem::exists(Path("socket")));
  ServerProcess server({"--listen", Unix("socket"), "--admin-listen", "none"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  EXPECT_TRUE(Answers(server.target()));
}

TEST_F(Binary, NeverReplacesAFileThatIsNoSocket) {
  std::ofstream(Path("precious")) << "precious";
  ServerProcess server({"--listen", Unix("precious"), "--admin-listen", "none"});
  EXPECT_EQ(server.Wait(), 1);
  EXPECT_NE(server.err().find("exists and is not a socket"), std::string::npos) << server.err();
  std::string content;
  std::ifstream(Path("precious")) >> content;
  EXPECT_EQ(content, "precious");
}

TEST_F(Binary, RemovesItsSocketFileAtTheEnd) {
  ServerProcess server(
      {"--listen", Unix("socket"), "--admin-listen", "none", "--drain-delay", "0"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("socket")));
}

TEST_F(Binary, UsageErrorsExitWith2AndNameTheFlag) {
  const struct {
    Arguments arguments;
    const char* named;
  } cases[] = {
      {{"--no-such-flag"}, "--no-such-flag"},
      {{"stray"}, "stray"},
      {{"--listen"}, "--listen"},
      {{"--listen", "nonsense"}, "nonsense"},
      {{"--listen", "127.0.0.1:65536"}, "127.0.0.1:65536"},
      {{"--listen", "127.0.0.1:-1"}, "--listen"},
      {{"--listen", "127.0.0.1:80;rm"}, "--listen"},
      {{"--listen", "unix:relative"}, "--listen"},
      {{"--listen", "unix:/" + std::string(200, 'x')}, "--listen"},
      {{"--admin-listen", "unix:/x"}, "--admin-listen"},
      {{"--workers", "-1"}, "--workers"},
      {{"--workers", "many"}, "--workers"},
      {{"--inline-bytes", "-1"}, "--inline-bytes"},
      {{"--max-message-bytes", "0"}, "--max-message-bytes"},
      {{"--max-message-bytes", "8GiB"}, "--max-message-bytes"},
      {{"--drain-grace", "-5s"}, "--drain-grace"},
      {{"--log-format", "xml"}, "--log-format"},
      {{"--reflection", "maybe"}, "--reflection"},
      {{"--tls-cert", "/no/such/file"}, "--tls-key"},
      {{"--tls-client-ca", "/no/such/file"}, "--tls-client-ca"},
  };
  for (const auto& [arguments, named] : cases) {
    ServerProcess server(arguments);
    EXPECT_EQ(server.Wait(), 2) << arguments[0] << ": " << server.err();
    EXPECT_NE(server.err().find(named), std::string::npos) << named << ": " << server.err();
    EXPECT_EQ(server.out(), "") << arguments[0];
  }
  ServerProcess variable({}, {"TRELU_WORKERS=many"});
  EXPECT_EQ(variable.Wait(), 2);
  EXPECT_NE(variable.err().find("TRELU_WORKERS"), std::string::npos) << variable.err();
}

TEST_F(Binary, AnUnreadableCertificateExitsWith1AndNamesThePath) {
  std::ofstream(Path("empty.pem")).close();
  for (const std::string& path : {Path("missing.pem"), Path("empty.pem")}) {
    ServerProcess server({"--listen", "127.0.0.1:0", "--admin-listen", "none", "--tls-cert", path,
                          "--tls-key", path});
    EXPECT_EQ(server.Wait(), 1) << server.err();
    EXPECT_NE(server.err().find(path), std::string::npos) << server.err();
  }
}

TEST_F(Binary, VersionAndHelpExitWith0) {
  ServerProcess version({"--version"});
  EXPECT_EQ(version.Wait(), 0);
  EXPECT_TRUE(std::regex_match(version.out(), std::regex(R"(trelu-server \d+\.\d+\.\d+\n)")))
      << version.out();
  ServerProcess help({"--help"});
  EXPECT_EQ(help.Wait(), 0);
  for (const char* text : {"usage:", "--listen", "TRELU_LISTEN", "--max-inflight-bytes", "[64MiB]",
                           "--drain-grace", "examples:"}) {
    EXPECT_NE(help.out().find(text), std::string::npos) << text;
  }
  EXPECT_EQ(help.err(), "");
}

class StopSignal : public Binary, public ::testing::WithParamInterface<int> {};

TEST_P(StopSignal, EndsAnIdleServerWithExitCode0) {
  ServerProcess server(kAnyPort);
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  EXPECT_TRUE(Answers(server.target()));
  const auto begin = Clock::now();
  server.Signal(GetParam());
  EXPECT_EQ(server.Wait(), 0);
  // HTTP takes up to two seconds to close, which is not to be felt on top of anything else.
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(2500));
  EXPECT_NE(server.err().find("draining"), std::string::npos) << server.err();
  EXPECT_NE(server.err().find("stopped"), std::string::npos) << server.err();
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignal, ::testing::Values(SIGTERM, SIGINT),
                         [](const auto& tested) {
                           return tested.param == SIGTERM ? "Term" : "Int";
                         });

TEST_F(Binary, ASecondSignalCutsTheDrainDelayShort) {
  ServerProcess server(
      {"--listen", "127.0.0.1:0", "--admin-listen", "none", "--drain-delay", "1h"});
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  server.Signal(SIGTERM);
  ASSERT_TRUE(server.WaitForError("draining"));
  EXPECT_TRUE(Answers(server.target()));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(Binary, IgnoresOtherSignals) {
  ServerProcess server(kAnyPort);
  ASSERT_TRUE(server.WaitUntilReady()) << server.err();
  for (const int number : {SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2}) {
    server.Signal(number);
    EXPECT_TRUE(Answers(server.target())) << "after signal " << number;
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

}  // namespace
}  // namespace trelu::testing
