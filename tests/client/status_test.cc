// One row a code.
#include "client/status.h"

#include <gtest/gtest.h>

namespace trelu {
namespace {

struct Case {
  grpc::StatusCode grpc_code;
  absl::StatusCode absl_code;
};

class StatusTest : public ::testing::TestWithParam<Case> {};

TEST_P(StatusTest, KeepsCodeAndMessage) {
  const absl::Status status = FromGrpc(grpc::Status(GetParam().grpc_code, "why"));
  EXPECT_EQ(status.code(), GetParam().absl_code);
  EXPECT_EQ(status.message(), GetParam().absl_code == absl::StatusCode::kOk ? "" : "why");
}

INSTANTIATE_TEST_SUITE_P(
    Codes, StatusTest,
    ::testing::Values(Case{grpc::OK, absl::StatusCode::kOk},
                      Case{grpc::CANCELLED, absl::StatusCode::kCancelled},
                      Case{grpc::UNKNOWN, absl::StatusCode::kUnknown},
                      Case{grpc::INVALID_ARGUMENT, absl::StatusCode::kInvalidArgument},
                      Case{grpc::DEADLINE_EXCEEDED, absl::StatusCode::kDeadlineExceeded},
                      Case{grpc::NOT_FOUND, absl::StatusCode::kNotFound},
                      Case{grpc::ALREADY_EXISTS, absl::StatusCode::kAlreadyExists},
                      Case{grpc::PERMISSION_DENIED, absl::StatusCode::kPermissionDenied},
                      Case{grpc::RESOURCE_EXHAUSTED, absl::StatusCode::kResourceExhausted},
                      Case{grpc::FAILED_PRECONDITION, absl::StatusCode::kFailedPrecondition},
                      Case{grpc::ABORTED, absl::StatusCode::kAborted},
                      Case{grpc::OUT_OF_RANGE, absl::StatusCode::kOutOfRange},
                      Case{grpc::UNIMPLEMENTED, absl::StatusCode::kUnimplemented},
                      Case{grpc::INTERNAL, absl::StatusCode::kInternal},
                      Case{grpc::UNAVAILABLE, absl::StatusCode::kUnavailable},
                      Case{grpc::DATA_LOSS, absl::StatusCode::kDataLoss},
                      Case{grpc::UNAUTHENTICATED, absl::StatusCode::kUnauthenticated},
                      Case{grpc::DO_NOT_USE, absl::StatusCode::kUnknown}));

}  // namespace
}  // namespace trelu
