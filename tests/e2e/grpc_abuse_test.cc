// Bad input below protobuf: sizes, compression, methods, metadata, and the other services' names.
#include <grpc/health/v1/health.grpc.pb.h>

#include "tests/e2e/bad_input.h"

namespace trelu::testing {
namespace {

class GrpcAbuse : public BadInput {};

TEST_F(GrpcAbuse, UnknownMethodsAreUnimplemented) {
  for (const char* method : {"/trelu.v1.ThresholdedRelu/Apple", "/trelu.v2.ThresholdedRelu/Apply",
                             "/", "//", "/x", "/trelu.v1.ThresholdedRelu/Apply/"}) {
    EXPECT_EQ(client_.Call(method, "").status.error_code(), grpc::UNIMPLEMENTED) << method;
    RawStream stream(client_.channel(), method);
    stream.Write("x");
    EXPECT_EQ(stream.Finish().error_code(), grpc::UNIMPLEMENTED) << method;
    ExpectOthersUnharmed(method);
  }
}

TEST_F(GrpcAbuse, AStreamMethodTakesAnyNumberOfMessagesFromAUnaryCaller) {
  const Answer answer = client_.Call(kApplyStream, ToRequest(GoodTensor()).SerializeAsString());
  EXPECT_TRUE(answer.status.ok()) << answer.status.error_message();
}

TEST_F(GrpcAbuse, CompressedMessagesAreRefusedBeforeTheyInflate) {
  WireTensorCase bomb = {DType::kFloat32, {1 << 22}, 0.0F, std::string(std::size_t{1} << 24, '\0')};
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    const Prepare compress = [&](grpc::ClientContext& context) {
      context.set_compression_algorithm(algorithm);
    };
    const grpc::Status unary = client_.Apply(ToRequest(bomb), compress).status;
    EXPECT_EQ(unary.error_code(), grpc::UNIMPLEMENTED) << unary.error_message();
    EXPECT_NE(unary.error_message().find("is disabled"), std::string::npos)
        << unary.error_message();
    const grpc::Status streamed = Stream({ToRequest(bomb).SerializeAsString()}, compress);
    EXPECT_EQ(streamed.error_code(), grpc::UNIMPLEMENTED) << streamed.error_message();
    ExpectOthersUnharmed("compressed");
  }
}

TEST_F(GrpcAbuse, MuchMetadataIsTakenAndAFloodClosesOnlyItsOwnConnection) {
  const auto with_metadata = [](int keys, std::size_t bytes) {
    return [=](grpc::ClientContext& context) {
      for (int i = 0; i < keys; ++i) {
        context.AddMetadata("x-" + std::to_string(i), std::string(bytes, 'm'));
      }
    };
  };
  const v1::ApplyRequest good = ToRequest(GoodTensor());
  EXPECT_TRUE(client_.Apply(good, with_metadata(1, 7000)).status.ok());
  EXPECT_TRUE(client_.Apply(good, with_metadata(50, 16)).status.ok());
  ExpectOthersUnharmed("7 kB of metadata");
  for (const auto& flood : {with_metadata(1, 9'000), with_metadata(1000, 16),
                            with_metadata(1, 10'000'000), with_metadata(10'000, 100)}) {
    NativeClient other(server_.target());
    EXPECT_FALSE(other.Apply(good, flood).status.ok());
    ExpectOthersUnharmed("flood of metadata");
    EXPECT_TRUE(other.Apply(good).status.ok()) << "a new call after the flood";
  }
}

TEST_F(GrpcAbuse, TraceparentMayBeAnything) {
  for (const std::string& value :
       {std::string(), std::string(4000, 'f'), std::string("a\"b\\c{}")}) {
    const Prepare trace = [&](grpc::ClientContext& context) {
      context.AddMetadata("traceparent", value);
    };
    v1::ApplyRequest bad = ToRequest(GoodTensor());
    bad.clear_tensor();
    ExpectRefused("traceparent", client_.Apply(bad, trace).status, grpc::INVALID_ARGUMENT,
                  {"tensor: missing"});
  }
}

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";
constexpr char kGetInfo[] = "/trelu.v1.Server/GetInfo";

std::string HealthRequest(const std::string& service) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  return request.SerializeAsString();
}

TEST_F(GrpcAbuse, HostileServiceNamesComeBackHarmless) {
  const Answer escape = client_.Call(kCheck, HealthRequest("\x1b[31m\r\n\x7fgrpc-status: 0\t\"'"));
  ExpectRefused("escape", escape.status, grpc::NOT_FOUND,
                {"unknown name '\\x1b[31m\\x0d\\x0a\\x7fgrpc-status: 0\\x09\"''"});
  const Answer unicode =
      client_.Call(kCheck, HealthRequest("\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80"));
  ExpectRefused("unicode", unicode.status, grpc::NOT_FOUND, {"\\xc3\\xa9\\xe2\\x80\\xae"});
  const Answer nul = client_.Call(kCheck, HealthRequest(std::string("a\0b", 3)));
  ExpectRefused("nul", nul.status, grpc::NOT_FOUND, {"'a\\x00b'"});
  const Answer longest = client_.Call(kCheck, HealthRequest(std::string(200, '\1')));
  ExpectRefused("200 bytes", longest.status, grpc::NOT_FOUND, {"\\x01\\x01"});
  const Answer longer = client_.Call(kCheck, HealthRequest(std::string(201, 'a')));
  ExpectRefused("201 bytes", longer.status, grpc::INVALID_ARGUMENT,
                {"service: name of 201 bytes, at most 200"});
  RawStream watch(client_.channel(), kWatch);
  watch.Write(HealthRequest(std::string(201, 'a')));
  ExpectRefused("201 bytes watched", watch.Finish(), grpc::INVALID_ARGUMENT,
                {"service: name of 201 bytes, at most 200"});
  expected_invalid_ += 4;  // NOT_FOUND counts too
  ExpectOthersUnharmed("names");
}

TEST_F(GrpcAbuse, MalformedRequestsToTheOtherServicesAreRefused) {
  const std::string not_utf8 = "\x0a\x02\xff\xfe";
  for (const std::string& message : {std::string("\xff\xff\xff"), not_utf8}) {
    ExpectRefused("Check", client_.Call(kCheck, message).status, grpc::INVALID_ARGUMENT,
                  {"malformed HealthCheckRequest"});
    RawStream watch(client_.channel(), kWatch);
    watch.Write(message);
    ExpectRefused("Watch", watch.Finish(), grpc::INVALID_ARGUMENT,
                  {"malformed HealthCheckRequest"});
    ExpectOthersUnharmed("malformed health request");
  }
  ExpectRefused("GetInfo", client_.Call(kGetInfo, "\xff\xff\xff").status, grpc::INVALID_ARGUMENT,
                {"malformed GetInfoRequest"});
}

TEST_F(GrpcAbuse, UnaryCallsWithoutAMessageAreRefused) {
  for (const char* method : {kApply, kCheck, kGetInfo}) {
    RawStream call(client_.channel(), method);
    call.WritesDone();
    EXPECT_NE(call.Finish().error_code(), grpc::OK) << method;
    ExpectOthersUnharmed(method);
  }
  // gRPC answers these itself, before a handler sees a call, so our metrics know nothing of them.
}

class MessageLimit : public BadInput {
 protected:
  static constexpr std::size_t kLimit = 1 << 20;
  static server::Options ServerOptions() {
    server::Options options = TestOptions();
    options.max_message_bytes = kLimit;
    return options;
  }
  MessageLimit() : BadInput(ServerOptions()) {}

  // A valid request whose message is of exactly so many bytes.
  static v1::ApplyRequest OfBytes(std::size_t message_bytes) {
    v1::ApplyRequest request = ToRequest({DType::kFloat32, {(1 << 18) - 5}, 0.0F, {}});
    request.set_data(std::string((1 << 20) - 20, 'x'));
    // Unknown bytes fill up what is missing.
    const std::size_t missing = message_bytes - request.ByteSizeLong();
    request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(
        14, std::string(missing - 2, 'u'));
    return request;
  }
};

TEST_F(MessageLimit, ExactlyTheLimitIsTakenOneByteMoreIsNot) {
  const std::vector<std::string> named = {"message of 1048577 bytes: at most 1048576",
                                          "--max-message-bytes"};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(OfBytes(kLimit).SerializeAsString().size(), kLimit);
    EXPECT_TRUE(client_.Apply(OfBytes(kLimit)).status.ok());
    ExpectRefused("unary", client_.Apply(OfBytes(kLimit + 1)).status, grpc::RESOURCE_EXHAUSTED,
                  named);
    EXPECT_TRUE(Stream({OfBytes(kLimit).SerializeAsString()}).ok());
    ExpectRefused("stream", Stream({OfBytes(kLimit + 1).SerializeAsString()}),
                  grpc::RESOURCE_EXHAUSTED, named);
    ExpectOthersUnharmed("limit");
  }
  EXPECT_TRUE(Eventually([this] { return Rejected("too_large") == 6; }));
}

}  // namespace
}  // namespace trelu::testing
