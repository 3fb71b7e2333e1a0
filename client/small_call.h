// One message each way, small and typed, tried once.
#ifndef TRELU_CLIENT_SMALL_CALL_H_
#define TRELU_CLIENT_SMALL_CALL_H_

#include <grpcpp/support/async_unary_call.h>

#include <functional>
#include <memory>
#include <utility>

#include "client/call.h"

namespace trelu {

template <typename Response>
class SmallCall final : public TriedCall {
 public:
  using Reader = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>;
  // A generated stub's PrepareAsync..., with the request.
  using Prepare = std::function<Reader(grpc::ClientContext&, grpc::CompletionQueue&)>;

  // `take` is given the answer, if there is one, before the call ends.
  SmallCall(Deadline deadline, RetrySchedule retry, Prepare prepare,
            std::function<void(const Response&)> take)
      : TriedCall(deadline, retry), prepare_(std::move(prepare)), take_(std::move(take)) {}

 private:
  void StartTry() override {
    reader_ = prepare_(context(), queue());
    reader_->StartCall();
    reader_->Finish(&response_, &status_, finished_.Tag());
  }
  void DropTry() override { reader_.reset(); }
  void OnFinished(bool /*ok*/) {
    if (!status_.ok()) {
      TryFailed(status_, /*may_retry=*/false);
      return;
    }
    take_(response_);
    End(absl::OkStatus());
  }

  Prepare prepare_;
  std::function<void(const Response&)> take_;
  Reader reader_;
  Response response_;
  grpc::Status status_;
  CallEvent<SmallCall> finished_{*this, &SmallCall::OnFinished};
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SMALL_CALL_H_
