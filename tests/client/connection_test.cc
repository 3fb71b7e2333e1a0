// Targets, several connections, TLS, and the small questions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/client/tensors.h"
#include "tests/support/certificates.h"
#include "tests/support/fake_server.h"
#include "trelu/client.h"

namespace trelu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status ApplyOnce(const ClientOptions& options) {
  const auto client = Client::Create(options);
  if (!client.ok()) return client.status();
  const TensorSpec spec = Spec(DType::kFloat32, {100});
  Bytes tensor = SomeBytes(spec.bytes());
  const Bytes expected = Expected(spec, 1, tensor);
  absl::Status status = (*client)->Apply(spec, tensor, tensor);
  if (status.ok()) {
    EXPECT_EQ(tensor, expected);
  }
  return status;
}

TEST(ConnectionTest, SeveralAreOpenedAndTakenInTurn) {
  FakeServer server;
  for (const int connections : {1, 4}) {
    const auto before = server.peers().size();
    const auto client =
        Client::Create({.target = server.target(), .connections = connections}).value();
    const TensorSpec spec = Spec(DType::kFloat32, {4});
    Bytes tensor = SomeBytes(spec.bytes());
    for (int i = 0; i < 12; ++i) EXPECT_EQ(client->Apply(spec, tensor, tensor), absl::OkStatus());
    EXPECT_EQ(server.peers().size() - before, connections);
  }
}

TEST(ConnectionTest, UnixSocket) {
  const std::string target = "unix:" + ::testing::TempDir() + "trelu_connection_test.sock";
  FakeServer server({.listen = target});
  EXPECT_EQ(ApplyOnce({.target = target}), absl::OkStatus());
  EXPECT_EQ(server.tries(), 1);
}

TEST(ConnectionTest, NamesAreLookedUp) {
  FakeServer server;
  const std::string port = std::to_string(server.port());
  EXPECT_EQ(ApplyOnce({.target = "dns:///localhost:" + port}), absl::OkStatus());
  EXPECT_EQ(ApplyOnce({.target = "localhost:" + port}), absl::OkStatus());
}

TEST(ConnectionTest, QuestionsAreAnswered) {
  FakeServer server;
  const auto client = Client::Create({.target = server.target()}).value();
  EXPECT_EQ(client->CheckHealth().value(), ServingStatus::kServing);
  EXPECT_EQ(client->CheckHealth("draining").value(), ServingStatus::kNotServing);
  EXPECT_EQ(client->CheckHealth("unknown").value(), ServingStatus::kServiceUnknown);
  const ServerInfo info = client->GetInfo().value();
  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.uptime.count(), 4.5);
  EXPECT_EQ(info.kernel_level, "baseline");
  EXPECT_EQ(info.workers, 6);
  EXPECT_EQ(info.inline_bytes, 7);
  EXPECT_EQ(info.max_message_bytes, 8);
  EXPECT_EQ(info.max_inflight_bytes, 9);
  EXPECT_THAT(info.dtypes, ElementsAre(DType::kFloat32, DType::kBFloat16));
}

struct OptionsCase {
  std::string name;
  ClientOptions options;
  absl::Status status;
};

class OptionsTest : public ::testing::TestWithParam<OptionsCase> {};

TEST_P(OptionsTest, ThatMakeNoSenseAreRefused) {
  EXPECT_EQ(Client::Create(GetParam().options).status(), GetParam().status);
}

using absl::InvalidArgumentError;
INSTANTIATE_TEST_SUITE_P(
    Options, OptionsTest,
    ::testing::Values(
        OptionsCase{"NoTarget", {.target = ""}, InvalidArgumentError("target is empty")},
        OptionsCase{"NoConnection",
                    {.connections = 0},
                    InvalidArgumentError("connections = 0: must be 1 to 1024")},
        OptionsCase{"NoAttempt",
                    {.retry = {.max_attempts = 0}},
                    InvalidArgumentError("retry.max_attempts = 0: must be at least 1")},
        OptionsCase{"NegativeBackoff",
                    {.retry = {.initial_backoff = std::chrono::milliseconds(-1)}},
                    InvalidArgumentError("retry.initial_backoff = -1: must be at least 0 ms")},
        OptionsCase{
            "BackoffsTheWrongWayRound",
            {.retry = {.max_backoff = std::chrono::milliseconds(49)}},
            InvalidArgumentError("retry.max_backoff = 49: must be at least retry.initial_backoff")},
        OptionsCase{
            "UnaryTooLarge",
            {.stream_above_bytes = (1U << 30) + 1},
            InvalidArgumentError("stream_above_bytes = 1073741825: must be at most 1073741824")},
        OptionsCase{"NoChunk",
                    {.chunk_bytes = 0},
                    InvalidArgumentError("chunk_bytes = 0: must be 1 to 67108864")},
        OptionsCase{"KeyWithoutCertificate",
                    {.tls = {.enabled = true, .key_file = "/etc/hostname"}},
                    InvalidArgumentError("tls.cert_file and tls.key_file: give both or neither")}),
    [](const auto& info) { return info.param.name; });

class TlsTest : public ::testing::Test {
 protected:
  std::string Read(const std::string& name) const {
    std::ostringstream content;
    content << std::ifstream(certificates_.path(name)).rdbuf();
    return content.str();
  }

  FakeServer::Options ServerOptions(bool ask_for_certificate) const {
    grpc::SslServerCredentialsOptions options(
        ask_for_certificate ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                            : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
    options.pem_root_certs = Read("ca.crt");
    options.pem_key_cert_pairs = {{Read("server.key"), Read("server.crt")}};
    return {.credentials = grpc::SslServerCredentials(options)};
  }

  TlsOptions Tls() const { return {.enabled = true, .ca_file = certificates_.path("ca.crt")}; }

  const Certificates certificates_;  // the server's is for "localhost"
};

TEST_F(TlsTest, AnAuthorityThatWeTrust) {
  FakeServer server(ServerOptions(false));
  EXPECT_EQ(ApplyOnce({.target = "localhost:" + std::to_string(server.port()), .tls = Tls()}),
            absl::OkStatus());
}

TEST_F(TlsTest, TheNameToExpectCanBeGiven) {
  FakeServer server(ServerOptions(false));
  TlsOptions tls = Tls();
  EXPECT_TRUE(absl::IsUnavailable(ApplyOnce({.target = server.target(), .tls = tls})));
  tls.server_name = "localhost";
  EXPECT_EQ(ApplyOnce({.target = server.target(), .tls = tls}), absl::OkStatus());
}

TEST_F(TlsTest, AnAuthorityThatWeDoNotTrust) {
  FakeServer server(ServerOptions(false));
  const std::string target = "localhost:" + std::to_string(server.port());
  EXPECT_TRUE(absl::IsUnavailable(ApplyOnce({.target = target, .tls = {.enabled = true}})));
  EXPECT_TRUE(absl::IsUnavailable(ApplyOnce({.target = target})));
  EXPECT_EQ(server.tries(), 0);
}

TEST_F(TlsTest, OurOwnCertificateForAServerThatAsksForOne) {
  FakeServer server(ServerOptions(true));
  const std::string target = "localhost:" + std::to_string(server.port());
  TlsOptions tls = Tls();
  EXPECT_TRUE(absl::IsUnavailable(ApplyOnce({.target = target, .tls = tls})));
  tls.cert_file = certificates_.path("client.crt");
  tls.key_file = certificates_.path("client.key");
  EXPECT_EQ(ApplyOnce({.target = target, .tls = tls}), absl::OkStatus());
}

TEST_F(TlsTest, FilesThatCannotBeReadAreNamed) {
  const absl::Status missing =
      ApplyOnce({.tls = {.enabled = true, .ca_file = "/nonexistent/ca.crt"}});
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nonexistent/ca.crt"));
  const absl::Status folder = ApplyOnce({.tls = {.enabled = true, .ca_file = "/etc"}});
  EXPECT_FALSE(folder.ok());
  EXPECT_THAT(std::string(folder.message()), HasSubstr("cannot read /etc"));
  const absl::Status empty = ApplyOnce({.tls = {.enabled = true, .ca_file = "/dev/null"}});
  EXPECT_EQ(empty, absl::InvalidArgumentError("/dev/null is empty"));
}

}  // namespace
}  // namespace trelu::testing
