// Apply: one tensor in one message each way.
#ifndef TRELU_CLIENT_UNARY_CALL_H_
#define TRELU_CLIENT_UNARY_CALL_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "client/answer.h"
#include "client/call.h"
#include "trelu/tensor_spec.h"

namespace trelu {

// Sends `request`, as often as it takes, and writes the answer to `y`, which has the tensor's bytes
// and must stay until the end. Writes nothing before a try has succeeded.
class UnaryCall final : public TriedCall {
 public:
  // `next_stub` gives each try its connection.
  UnaryCall(Deadline deadline, RetrySchedule retry, std::function<grpc::GenericStub&()> next_stub,
            const grpc::ByteBuffer& request, TensorSpec spec, std::span<std::byte> y);

 private:
  void StartTry() override;
  void DropTry() override;
  void OnFinished(bool ok);

  std::function<grpc::GenericStub&()> next_stub_;
  grpc::ByteBuffer request_;
  const TensorSpec spec_;
  Answer answer_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  CallEvent<UnaryCall> finished_{*this, &UnaryCall::OnFinished};
};

}  // namespace trelu

#endif  // TRELU_CLIENT_UNARY_CALL_H_
