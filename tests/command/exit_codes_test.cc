#include "client/command/exit_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trelu::command {
namespace {

struct Row {
  absl::StatusCode status;
  ExitCode exit;
};

constexpr Row kRows[] = {
    {absl::StatusCode::kOk, kOk},
    {absl::StatusCode::kCancelled, kInternal},
    {absl::StatusCode::kUnknown, kInternal},
    {absl::StatusCode::kInvalidArgument, kRefused},
    {absl::StatusCode::kDeadlineExceeded, kDeadline},
    {absl::StatusCode::kNotFound, kRefused},
    {absl::StatusCode::kAlreadyExists, kRefused},
    {absl::StatusCode::kPermissionDenied, kRefused},
    {absl::StatusCode::kResourceExhausted, kTooLarge},
    {absl::StatusCode::kFailedPrecondition, kRefused},
    {absl::StatusCode::kAborted, kInternal},
    {absl::StatusCode::kOutOfRange, kRefused},
    {absl::StatusCode::kUnimplemented, kRefused},
    {absl::StatusCode::kInternal, kInternal},
    {absl::StatusCode::kUnavailable, kUnavailable},
    {absl::StatusCode::kDataLoss, kWrongAnswer},
    {absl::StatusCode::kUnauthenticated, kRefused},
};

TEST(ExitCodes, EveryStatusHasOne) {
  for (const Row& row : kRows) {
    EXPECT_EQ(ExitCodeOfCall(absl::Status(row.status, "")), row.exit)
        << absl::StatusCodeToString(row.status);
  }
}

TEST(ExitCodes, NumbersAreFixedAndExplained) {
  EXPECT_EQ(kInternal, 1);
  EXPECT_EQ(kUsage, 2);
  EXPECT_EQ(kBadInput, 3);
  EXPECT_EQ(kRefused, 4);
  EXPECT_EQ(kUnavailable, 5);
  EXPECT_EQ(kDeadline, 6);
  EXPECT_EQ(kTooLarge, 7);
  EXPECT_EQ(kBadOutput, 8);
  EXPECT_EQ(kNotServing, 9);
  EXPECT_EQ(kWrongAnswer, 10);
  for (int code = kOk; code <= kWrongAnswer; ++code) {
    EXPECT_THAT(ExitCodesHelp(), testing::HasSubstr("\n  " + std::to_string(code) + " ")) << code;
  }
}

TEST(ExitCodes, FailuresAreOneEscapedLine) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Fail(kBadInput, "x\n.npy", "descr = '\x1b[2J\xff'"), kBadInput);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "trelu: x\\n.npy: descr = '\\x1b[2J\\xff'\n");
}

TEST(ExitCodes, FailedCallsNameTheServerAndTheCode) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(FailCall("host:1", absl::UnavailableError("draining")), kUnavailable);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "trelu: host:1: UNAVAILABLE: draining\n");
}

}  // namespace
}  // namespace trelu::command
