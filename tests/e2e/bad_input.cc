#include "tests/e2e/bad_input.h"

#include <algorithm>
#include <filesystem>

namespace trelu::testing {

WireTensorCase GoodTensor() {
  return {DType::kFloat32, {2}, 0.0F, std::string("\0\0\x80\x3f\0\0\x80\xbf", 8)};
}

int OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}

BadInput::BadInput(const server::Options& options) : server_(options), client_(server_.target()) {}

void BadInput::SetUp() {
  canary_ = client_.OpenStream();
  ExpectOthersUnharmed("before");
  files_before_ = OpenFiles();
}

void BadInput::TearDown() {
  ExpectOthersUnharmed("after");
  canary_->WritesDone();
  EXPECT_TRUE(canary_->Finish().ok());
  EXPECT_TRUE(Eventually([this] { return server_->calls_in_flight() == 0; }));
  EXPECT_TRUE(Eventually([this] { return Rejected("invalid") >= expected_invalid_; }));
  EXPECT_EQ(Rejected("invalid"), expected_invalid_);
  EXPECT_EQ(server_.metrics().Value("trelu_inflight_bytes"), 0);
  EXPECT_EQ(server_.metrics().Value("trelu_inflight_calls"), 0);
  EXPECT_TRUE(Eventually([this] { return OpenFiles() <= files_before_; }))
      << OpenFiles() << " open files, before " << files_before_;
}

void BadInput::ExpectRefused(const std::string& name, const grpc::Status& status,
                             grpc::StatusCode code, const std::vector<std::string>& named) {
  if (code == grpc::INVALID_ARGUMENT) ++expected_invalid_;
  const std::string& message = status.error_message();
  EXPECT_EQ(status.error_code(), code) << name << ": " << message;
  for (const std::string& text : named) {
    EXPECT_NE(message.find(text), std::string::npos) << name << ": " << message;
  }
  EXPECT_FALSE(message.empty()) << name;
  EXPECT_LE(message.size(), 512U) << name;
  EXPECT_TRUE(
      std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
      << name << ": " << message;
}

void BadInput::ExpectOthersUnharmed(const std::string& name) {
  const WireTensorCase good = GoodTensor();
  ASSERT_TRUE(canary_->Write(ToRequest(good).SerializeAsString())) << name;
  const auto streamed = ParseResponse(canary_->Read().value_or(""));
  EXPECT_TRUE(streamed && streamed->Is(good, Expected(good))) << name;
  const Answer answer = client_.Apply(ToRequest(good));
  const auto result = ParseResponse(answer.message);
  EXPECT_TRUE(answer.status.ok() && result && result->Is(good, Expected(good)))
      << name << ": " << answer.status.error_message();
}

grpc::Status BadInput::Stream(const std::vector<std::string>& messages, const Prepare& prepare) {
  auto stream = client_.OpenStream(prepare);
  for (const std::string& message : messages) {
    if (!stream->Write(message)) break;
  }
  stream->WritesDone();
  return stream->Finish();
}

double BadInput::Rejected(const std::string& reason) const {
  return server_.metrics().Value("trelu_rejected_total{reason=\"" + reason + "\"}");
}

}  // namespace trelu::testing
