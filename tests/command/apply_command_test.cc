#include "client/command/apply_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/command/exit_codes.h"
#include "tests/command/files.h"

namespace trelu::command {
namespace {

using testing::HasSubstr;

// A port that nothing listens on: reserved, and never given out.
constexpr const char* kNobody = "127.0.0.1:1";

class ApplyCommandTest : public testing::Test {
 protected:
  ApplyCommandTest() {
    app_.fallthrough();
    app_.require_subcommand(1);
    AddConnectionOptions(app_, connection_);
    AddApplyCommand(app_, connection_, exit_code_);
  }

  // The exit code as main makes it.
  int Run(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    testing::internal::CaptureStderr();
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError&) {
      exit_code_ = kUsage;
    }
    error_ = testing::internal::GetCapturedStderr();
    return exit_code_;
  }

  TemporaryFolder folder_;
  CLI::App app_;
  ConnectionOptions connection_;
  int exit_code_ = kOk;
  std::string error_;
};

TEST_F(ApplyCommandTest, TakesConnectionFlagsOnEitherSide) {
  EXPECT_EQ(Run({"--tls-ca", "ca.pem", "apply", "none.npy", "-t", kNobody, "--timeout", "0.0001"}),
            kUsage)
      << "the authority's file is not there";
  EXPECT_EQ(connection_.target, kNobody);
  EXPECT_TRUE(connection_.ToClientOptions().tls.enabled);
  EXPECT_EQ(connection_.Timeout(std::chrono::seconds(9)), std::chrono::milliseconds(1));
}

TEST_F(ApplyCommandTest, NoTimeoutIsTheSubcommandsOwn) {
  EXPECT_EQ(connection_.Timeout(std::chrono::seconds(9)), std::chrono::seconds(9));
  connection_.timeout_seconds = 0;
  EXPECT_EQ(connection_.Timeout(std::chrono::seconds(9)), std::chrono::seconds(0));
}

TEST_F(ApplyCommandTest, MissingFileIsABadInput) {
  EXPECT_EQ(Run({"apply", folder_.Path("none.npy")}), kBadInput);
  EXPECT_THAT(error_, HasSubstr("none.npy: cannot be opened: No such file"));
}

TEST_F(ApplyCommandTest, NoServerIsUnavailable) {
  EXPECT_EQ(Run({"apply", "zeros:", "--dtype", "float32", "--shape", "", "-t", kNobody, "--retries",
                 "0"}),
            kUnavailable);
  EXPECT_THAT(error_, HasSubstr(std::string("trelu: ") + kNobody + ": UNAVAILABLE: "));
}

struct UsageRow {
  std::string name;
  std::vector<std::string> arguments;
};

const UsageRow kUsageRows[] = {
    {"Nothing", {}},
    {"NoInput", {"apply"}},
    {"UnknownFlag", {"apply", "x.npy", "--what"}},
    {"TwoInputs", {"apply", "x.npy", "y.npy"}},
    {"DType", {"apply", "x.npy", "--dtype", "float8"}},
    {"Format", {"apply", "x.npy", "--format", "txt"}},
    {"Alpha", {"apply", "x.npy", "--alpha", "high"}},
    {"EmptyAlpha", {"apply", "x.npy", "--alpha", ""}},
    {"Shape", {"apply", "x.npy", "--shape", "2x3"}},
    {"Connections", {"apply", "x.npy", "--connections", "0"}},
    {"Retries", {"apply", "x.npy", "--retries", "-1"}},
    {"Timeout", {"apply", "x.npy", "--timeout", "-1"}},
    {"CertificateWithoutKey", {"apply", "x.npy", "--tls-cert", "c.pem"}},
};

TEST_F(ApplyCommandTest, WrongCommandLinesAreUsageErrors) {
  for (const UsageRow& row : kUsageRows) {
    exit_code_ = kOk;
    EXPECT_EQ(Run(row.arguments), kUsage) << row.name;
  }
}

TEST_F(ApplyCommandTest, NegativeAlphasAreNotFlags) {
  for (const char* alpha : {"-1", "-inf", "-.5", "-0x1p-3"}) {
    exit_code_ = kOk;
    EXPECT_EQ(Run({"apply", "--alpha", alpha, folder_.Path("none.npy")}), kBadInput) << alpha;
  }
}

TEST_F(ApplyCommandTest, HelpHasExamples) {
  EXPECT_THAT(app_.get_subcommand("apply")->help(), HasSubstr("Examples:\n  trelu apply x.npy"));
}

}  // namespace
}  // namespace trelu::command
