// The codec held against protobuf's own classes.
#ifndef TRELU_TESTS_PROTO_AGREEMENT_H_
#define TRELU_TESTS_PROTO_AGREEMENT_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <string_view>

namespace trelu::testing {

// Decodes `received`, which holds `bytes`, and parses `bytes` with the schema's class. Empty when
// both refuse, or both accept with the same fields and (where the tensor is a valid one) the codec
// encodes them to the bytes that protobuf serialises; otherwise says what differs.
std::string RequestDisagreement(std::string_view bytes, grpc::ByteBuffer received);
std::string ResponseDisagreement(std::string_view bytes, grpc::ByteBuffer received);

}  // namespace trelu::testing

#endif  // TRELU_TESTS_PROTO_AGREEMENT_H_
