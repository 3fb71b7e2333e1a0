// The codec of infer messages held against protobuf's own classes.
#ifndef TRELU_TESTS_PROTO_INFER_AGREEMENT_H_
#define TRELU_TESTS_PROTO_INFER_AGREEMENT_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <string_view>

namespace trelu::testing {

// Decodes `received`, which holds `bytes` (at most 16 KiB, so that no header is too long), and
// parses `bytes` with the schema's class. Empty when both refuse, or both accept with the same
// fields and the codec encodes them to bytes that protobuf reads the same; otherwise says what
// differs.
std::string InferRequestDisagreement(std::string_view bytes, grpc::ByteBuffer received);
std::string InferResponseDisagreement(std::string_view bytes, grpc::ByteBuffer received);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_PROTO_INFER_AGREEMENT_H_
