// The ways in: TCP, Unix sockets, TLS and mutual TLS, reflection; and what knocks without being a
// client.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "server/server.h"
#include "tests/support/certificates.h"
#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

grpc::Status TryApply(NativeClient& client) {
  const WireTensorCase tensor = {DType::kFloat32, {2}, 1.0F, std::string(8, '\x40')};
  const Answer answer = client.Apply(ToRequest(tensor), [](grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  });
  if (answer.status.ok()) {
    EXPECT_TRUE(ParseResponse(answer.message)->Is(tensor, Expected(tensor)));
  }
  return answer.status;
}

TEST(TransportTest, SeveralTcpAndUnixListenersAtOnce) {
  server::Options options = TestOptions();
  const std::string path =
      std::filesystem::temp_directory_path() / ("trelu-" + std::to_string(getpid()) + ".sock");
  options.listen = {"127.0.0.1:0", "unix:" + path, "127.0.0.1:0"};
  const InProcessServer server(options);
  for (std::size_t i = 0; i < options.listen.size(); ++i) {
    NativeClient client(server.target(i));
    EXPECT_TRUE(TryApply(client).ok()) << server.target(i);
  }
  std::filesystem::remove(path);
}

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class TlsTest : public ::testing::Test {
 protected:
  server::Options Options(bool mutual) const {
    server::Options options = TestOptions();
    options.tls_cert = certificates_.path("server.crt");
    options.tls_key = certificates_.path("server.key");
    if (mutual) options.tls_client_ca = certificates_.path("ca.crt");
    return options;
  }

  static grpc::Status Apply(const InProcessServer& server,
                            const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    const std::string& target = server.target();
    NativeClient client("localhost" + target.substr(target.rfind(':')), credentials);
    return TryApply(client);
  }
  static std::shared_ptr<grpc::ChannelCredentials> Trusting(const Certificates& authority) {
    return grpc::SslCredentials({Read(authority.path("ca.crt")), "", ""});
  }
  static std::shared_ptr<grpc::ChannelCredentials> TrustingAndKnown(const Certificates& authority) {
    return grpc::SslCredentials({Read(authority.path("ca.crt")), Read(authority.path("client.key")),
                                 Read(authority.path("client.crt"))});
  }

  Certificates certificates_;
  Certificates strangers_;
};

TEST_F(TlsTest, ServesThoseWhoTrustItAndNoOthers) {
  const InProcessServer server(Options(/*mutual=*/false));
  EXPECT_TRUE(Apply(server, Trusting(certificates_)).ok());
  EXPECT_EQ(Apply(server, Trusting(strangers_)).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Apply(server, grpc::InsecureChannelCredentials()).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Apply(server, Trusting(certificates_)).ok());
}

TEST_F(TlsTest, MutualServesOnlyKnownClients) {
  const InProcessServer server(Options(/*mutual=*/true));
  EXPECT_TRUE(Apply(server, TrustingAndKnown(certificates_)).ok());
  EXPECT_EQ(Apply(server, Trusting(certificates_)).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Apply(server, TrustingAndKnown(certificates_)).ok());
}

// The answer to "list services", as it came, or the status code. By hand, since Debian ships no
// header of the reflection service: field 7 of the request
// (grpc/reflection/v1alpha/reflection.proto) is list_services.
std::string ServicesByReflection(const InProcessServer& server) {
  const NativeClient client(server.target());
  RawStream stream(client.channel(),
                   "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  stream.Write(std::string("\x3a\x01*", 3));
  stream.WritesDone();
  std::string answer;
  for (const std::string& response : stream.ReadAll()) answer += response;
  const grpc::Status status = stream.Finish();
  return status.ok() ? answer : std::to_string(status.error_code());
}

TEST(ReflectionTest, ListsTheServicesWhenOn) {
  const std::string names = ServicesByReflection(InProcessServer());
  for (const char* name :
       {"trelu.v1.ThresholdedRelu", "trelu.v1.Server", "grpc.health.v1.Health"}) {
    EXPECT_NE(names.find(name), std::string::npos) << names;
  }
}

TEST(ReflectionTest, IsUnimplementedWhenOff) {
  server::Options options = TestOptions();
  options.reflection = false;
  EXPECT_EQ(ServicesByReflection(InProcessServer(options)),
            std::to_string(grpc::StatusCode::UNIMPLEMENTED));
}

// A TCP connection to `target` that says `bytes` and then goes the way `end` says.
void Knock(const std::string& target, const std::string& bytes, bool reset) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(target.substr(target.rfind(':') + 1))));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  if (reset) {
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  } else {
    shutdown(fd, SHUT_WR);
    char answer[4096];
    while (recv(fd, answer, sizeof(answer), 0) > 0) {
    }
  }
  close(fd);
}

TEST(StrangersTest, WhateverKnocksTheOthersAreServed) {
  const InProcessServer server;
  NativeClient client(server.target());
  ASSERT_TRUE(TryApply(client).ok());
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings(9, '\0');  // an empty SETTINGS frame but for its type
  struct Row {
    const char* name;
    std::string bytes;
  };
  const Row rows[] = {
      {"nothing", ""},
      {"HTTP/1.1", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"TLS hello", std::string("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03", 10)},
      {"zeros", std::string(1 << 16, '\0')},
      {"half a preface", preface.substr(0, 10)},
      {"preface and an unknown frame", preface + std::string("\x00\x00\x00\x7f\x00", 5) + settings},
      {"a frame longer than allowed", preface + std::string("\xff\xff\xff\x00\x00", 5)},
  };
  for (const Row& row : rows) {
    for (const bool reset : {false, true}) Knock(server.target(), row.bytes, reset);
    EXPECT_TRUE(TryApply(client).ok()) << row.name;
    NativeClient fresh(server.target());
    EXPECT_TRUE(TryApply(fresh).ok()) << row.name;
  }
}

}  // namespace
}  // namespace trelu::testing
