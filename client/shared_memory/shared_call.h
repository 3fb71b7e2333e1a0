// One tensor through shared memory: the connection carries where it is, not what.
#ifndef TRELU_CLIENT_SHARED_MEMORY_SHARED_CALL_H_
#define TRELU_CLIENT_SHARED_MEMORY_SHARED_CALL_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/async_stream.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "client/call.h"
#include "client/shared_memory/shared_region.h"
#include "inference/open_inference.grpc.pb.h"
#include "trelu/tensor_spec.h"

namespace trelu {

// Where a call's tensors are. They do not overlap, or are the same bytes.
struct TensorPlaces {
  std::span<const std::byte> x;
  std::span<std::byte> y;
  // The same places as the server knows them, if it does.
  std::optional<SharedPlace> x_shared;
  std::optional<SharedPlace> y_shared;
};

// By ModelStreamInfer (inference/open_inference.proto). What is in the caller's own memory passes
// in pieces: copied into the region, computed there in place, copied out, several under way. With
// both tensors shared it is one message and no copy.
//
// Tried once. When another try may help, the call ends when that is due, for the caller to make it
// another way; not when the result's place is the caller's and the server may still write to it.
// That is right although results may have been written, also where y is x: the operator changes
// nothing in what it has already been applied to.
class SharedCall final : public TriedCall {
 public:
  using Stub = inference::GRPCInferenceService::Stub;

  // `scratch`: a region of RegionPool's that nobody else uses; not used when `places.y_shared`.
  SharedCall(Deadline deadline, RetrySchedule retry, std::unique_ptr<Stub> stub, TensorSpec spec,
             std::optional<float> alpha, TensorPlaces places,
             std::shared_ptr<SharedRegion> scratch);

  enum class Verdict {
    kFinal,      // the status is the call's
    kTryAgain,   // the try failed, and the schedule has another
    kImpossible  // the server will not do it this way; the status says why
  };
  // Once it has ended.
  Verdict verdict() const { return verdict_; }

 private:
  using Request = inference::ModelInferRequest;
  using Response = inference::ModelStreamInferResponse;

  void StartTry() override;
  void DropTry() override;

  void OnStarted(bool ok);
  void OnWritten(bool ok);
  void OnRead(bool ok);
  void OnFinished(bool ok);
  void OnSecondTry(bool ok);

  void WriteNext();
  void ReadNext();
  void FinishWhenIdle();
  bool MayWrite() const;

  std::uint64_t BytesOf(std::uint64_t piece) const;
  // Where the server puts the piece, and where that is here.
  SharedPlace YPlace(std::uint64_t piece) const;
  absl::Status Check(std::uint64_t piece) const;

  const std::unique_ptr<Stub> stub_;
  const TensorSpec spec_;
  const TensorPlaces places_;
  const std::shared_ptr<SharedRegion> scratch_;
  const std::uint64_t piece_bytes_;
  const std::uint64_t pieces_;

  Request request_;
  Response response_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream_;
  std::uint64_t sent_ = 0;      // pieces
  std::uint64_t answered_ = 0;  // pieces
  bool begun_ = false;
  bool writing_ = false;
  bool reading_ = false;
  grpc::Status status_;
  absl::Status abandoned_;  // why, when it is not OK
  Verdict verdict_ = Verdict::kFinal;
  grpc::Alarm alarm_;
  CallEvent<SharedCall> started_{*this, &SharedCall::OnStarted};
  CallEvent<SharedCall> written_{*this, &SharedCall::OnWritten};
  CallEvent<SharedCall> read_{*this, &SharedCall::OnRead};
  CallEvent<SharedCall> finished_{*this, &SharedCall::OnFinished};
  CallEvent<SharedCall> second_try_{*this, &SharedCall::OnSecondTry};
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_SHARED_CALL_H_
