#include "server/status.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace trelu::server {
namespace {

struct Row {
  const char* name;
  absl::StatusCode absl_code;
  grpc::StatusCode grpc_code;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class StatusTest : public testing::TestWithParam<Row> {};

TEST_P(StatusTest, KeepsCodeAndMessage) {
  const grpc::Status status = ToGrpcStatus(absl::Status(GetParam().absl_code, "why"));
  EXPECT_EQ(status.error_code(), GetParam().grpc_code);
  EXPECT_EQ(status.error_message(), GetParam().grpc_code == grpc::StatusCode::OK ? "" : "why");
}

INSTANTIATE_TEST_SUITE_P(
    Codes, StatusTest,
    testing::Values(
        Row{"Ok", absl::StatusCode::kOk, grpc::StatusCode::OK},
        Row{"Cancelled", absl::StatusCode::kCancelled, grpc::StatusCode::CANCELLED},
        Row{"Unknown", absl::StatusCode::kUnknown, grpc::StatusCode::UNKNOWN},
        Row{"InvalidArgument", absl::StatusCode::kInvalidArgument,
            grpc::StatusCode::INVALID_ARGUMENT},
        Row{"DeadlineExceeded", absl::StatusCode::kDeadlineExceeded,
            grpc::StatusCode::DEADLINE_EXCEEDED},
        Row{"NotFound", absl::StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND},
        Row{"AlreadyExists", absl::StatusCode::kAlreadyExists, grpc::StatusCode::ALREADY_EXISTS},
        Row{"PermissionDenied", absl::StatusCode::kPermissionDenied,
            grpc::StatusCode::PERMISSION_DENIED},
        Row{"ResourceExhausted", absl::StatusCode::kResourceExhausted,
            grpc::StatusCode::RESOURCE_EXHAUSTED},
        Row{"FailedPrecondition", absl::StatusCode::kFailedPrecondition,
            grpc::StatusCode::FAILED_PRECONDITION},
        Row{"Aborted", absl::StatusCode::kAborted, grpc::StatusCode::ABORTED},
        Row{"OutOfRange", absl::StatusCode::kOutOfRange, grpc::StatusCode::OUT_OF_RANGE},
        Row{"Unimplemented", absl::StatusCode::kUnimplemented, grpc::StatusCode::UNIMPLEMENTED},
        Row{"Internal", absl::StatusCode::kInternal, grpc::StatusCode::INTERNAL},
        Row{"Unavailable", absl::StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE},
        Row{"DataLoss", absl::StatusCode::kDataLoss, grpc::StatusCode::DATA_LOSS},
        Row{"Unauthenticated", absl::StatusCode::kUnauthenticated,
            grpc::StatusCode::UNAUTHENTICATED},
        Row{"NoSuchCode", static_cast<absl::StatusCode>(99), grpc::StatusCode::UNKNOWN}),
    [](const auto& row) { return row.param.name; });

TEST(StatusMessageTest, IsPrintable) {
  const std::string message("a\n\0\xff", 4);
  EXPECT_EQ(ToGrpcStatus(absl::InternalError(message)).error_message(), "a\\x0a\\x00\\xff");
}

TEST(StatusMessageTest, IsCutAt512Bytes) {
  EXPECT_EQ(ToGrpcStatus(absl::InternalError(std::string(512, 'a'))).error_message(),
            std::string(512, 'a'));
  EXPECT_EQ(ToGrpcStatus(absl::InternalError(std::string(513, 'a'))).error_message(),
            std::string(509, 'a') + "...");
}

}  // namespace
}  // namespace trelu::server
