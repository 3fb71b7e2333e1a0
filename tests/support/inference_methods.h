// The Open Inference face's small methods, called with the messages of the schema.
#ifndef TRELU_TESTS_SUPPORT_INFERENCE_METHODS_H_
#define TRELU_TESTS_SUPPORT_INFERENCE_METHODS_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "inference/open_inference.pb.h"
#include "tests/support/infer_tensor.h"
#include "tests/support/native_client.h"

namespace trelu::testing {

template <typename Response>
struct Told {
  grpc::Status status;
  Response response;
};

// `method` as "ServerLive". Fails the test when the answer is of another type.
template <typename Response>
Told<Response> Ask(NativeClient& client, const std::string& method,
                   const google::protobuf::MessageLite& request) {
  const Answer answer = client.Call(InferenceMethod(method), request.SerializeAsString());
  Told<Response> told = {answer.status, {}};
  EXPECT_TRUE(told.response.ParseFromString(answer.message)) << method;
  return told;
}

// Registers [offset, offset + bytes) of the object `key` under `name`.
inline grpc::Status RegisterRegion(NativeClient& client, const std::string& name,
                                   const std::string& key, std::uint64_t bytes,
                                   std::uint64_t offset = 0) {
  inference::SystemSharedMemoryRegisterRequest request;
  request.set_name(name);
  request.set_key(key);
  request.set_byte_size(bytes);
  request.set_offset(offset);
  return Ask<inference::SystemSharedMemoryRegisterResponse>(client, "SystemSharedMemoryRegister",
                                                            request)
      .status;
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_INFERENCE_METHODS_H_
