// ApplyStream with one tensor: written in chunks while the result is read.
#ifndef TRELU_CLIENT_STREAM_CALL_H_
#define TRELU_CLIENT_STREAM_CALL_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "client/answer.h"
#include "client/call.h"
#include "client/chunk_pool.h"
#include "trelu/tensor_spec.h"

namespace trelu {

// Where a streamed tensor comes from and where its result goes. All functions are called on the
// thread that runs the call, one at a time.
struct StreamEnds {
  // Writes the tensor's bytes from `offset` on; an error ends the call with it.
  std::function<absl::Status(std::uint64_t offset, std::span<std::byte>)> source;
  // Takes the result's bytes from `offset` on; an error ends the call with it.
  Answer::Take sink;
  // Whether, after so many bytes asked of the source and given to the sink, another try may begin
  // at the beginning.
  std::function<bool(std::uint64_t asked_bytes, std::uint64_t given_bytes)> may_restart;
};

// At most one message of `chunk_bytes` is being written and one is being read: constant memory,
// whatever the tensor's size. Reading never waits for writing, so that a server that answers while
// it reads never stops.
class StreamCall final : public TriedCall {
 public:
  // `next_stub` gives each try its connection. `pool` must outlive the call.
  StreamCall(Deadline deadline, RetrySchedule retry, std::function<grpc::GenericStub&()> next_stub,
             ChunkPool& pool, std::uint64_t chunk_bytes, TensorSpec spec,
             std::optional<float> alpha, StreamEnds ends);

 private:
  void StartTry() override;
  void DropTry() override;

  void OnStarted(bool ok);
  void OnWritten(bool ok);
  void OnRead(bool ok);
  void OnFinished(bool ok);

  void WriteNext();
  void ReadNext();
  // Gives the try up for a reason of our own.
  void Abandon(absl::Status reason);
  // Asks for the status once nothing is being read or written.
  void FinishWhenIdle();

  std::function<grpc::GenericStub&()> next_stub_;
  ChunkPool& pool_;
  const std::uint64_t chunk_bytes_;
  const TensorSpec spec_;
  const std::optional<float> alpha_;
  StreamEnds ends_;
  Answer answer_;

  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  std::uint64_t asked_bytes_ = 0;
  bool writing_ = false;
  bool reading_ = false;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  absl::Status abandoned_;  // why, when it is not OK
  CallEvent<StreamCall> started_{*this, &StreamCall::OnStarted};
  CallEvent<StreamCall> written_{*this, &StreamCall::OnWritten};
  CallEvent<StreamCall> read_{*this, &StreamCall::OnRead};
  CallEvent<StreamCall> finished_{*this, &StreamCall::OnFinished};
};

}  // namespace trelu

#endif  // TRELU_CLIENT_STREAM_CALL_H_
