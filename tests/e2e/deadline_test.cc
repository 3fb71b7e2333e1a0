// A call whose time is up is answered so, and nothing is computed for it any more.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/e2e/gated_server.h"

namespace trelu::testing {
namespace {

using std::chrono::milliseconds;

Prepare Within(milliseconds time) {
  return [time](grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + time);
  };
}

class DeadlineTest : public GatedServer {
 protected:
  // As the server sees it: on the wire the deadline is a duration, rounded up, so the server's time
  // ends a little after the client's.
  void ExpectDeadlineExceeded(const std::string& method) {
    EXPECT_TRUE(Eventually([&] { return Handled(method, "DeadlineExceeded") == 1; }));
    EXPECT_EQ(Kernels(), 0) << "computed for a caller whose time was up";
    EXPECT_EQ(server_.metrics().Value("trelu_rejected_total{reason=\"deadline\"}"), 1);
    ExpectNothingLeft();
  }
};

TEST_F(DeadlineTest, UnaryWhoseWorkWaitsTooLong) {
  const Answer answer = client_.Apply(ToRequest(Tensor(4096)), Within(milliseconds(500)));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  // The client's clock ran out; the server's own look at it comes before the first block.
  gate_->WaitForKept(1);
  EXPECT_TRUE(Eventually([past = std::chrono::system_clock::now() + milliseconds(50)] {
    return std::chrono::system_clock::now() > past;
  }));
  gate_->Open();
  ExpectDeadlineExceeded("Apply");
}

TEST_F(DeadlineTest, StreamThatItsCallerLeavesOpen) {
  auto stream = client_.OpenStream(Within(milliseconds(500)));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  gate_->Open();
  // The caller hangs up when its own time is over, which may be before the server's is.
  EXPECT_TRUE(Eventually([&] {
    return Handled("ApplyStream", "DeadlineExceeded") + Handled("ApplyStream", "Canceled") == 1;
  }));
  EXPECT_EQ(Kernels(), 0);
  ExpectNothingLeft();
}

TEST_F(DeadlineTest, StreamWhoseWorkWaitsTooLong) {
  auto stream = client_.OpenStream(Within(milliseconds(500)));
  ASSERT_TRUE(stream->Write(ToRequest(Tensor(4096)).SerializeAsString()));
  gate_->WaitForKept(1);
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Eventually([past = std::chrono::system_clock::now() + milliseconds(50)] {
    return std::chrono::system_clock::now() > past;
  }));
  gate_->Open();
  ExpectDeadlineExceeded("ApplyStream");
}

}  // namespace
}  // namespace trelu::testing
