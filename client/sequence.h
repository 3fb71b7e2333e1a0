// A call made of other calls, one after another.
#ifndef TRELU_CLIENT_SEQUENCE_H_
#define TRELU_CLIENT_SEQUENCE_H_

#include <grpcpp/completion_queue.h>

#include <memory>
#include <mutex>

#include "client/call.h"

namespace trelu {

// All run on the queue of the whole. A cancelled sequence cancels the call that runs and those that
// come after it.
class Sequence : public Call {
 public:
  void Begin(grpc::CompletionQueue& queue, Done done) final;
  void Cancel() final;

 protected:
  // Begins the first call, or ends the whole.
  virtual void First() = 0;

  // Begins `call` and has its status given to `then`, which begins the next or ends the whole. The
  // call stays until the next begins. The caller returns at once.
  void Run(std::unique_ptr<Call> call, Done then);
  // Ends the whole. The caller returns at once.
  void End(absl::Status status);

 private:
  Done done_;
  grpc::CompletionQueue* queue_ = nullptr;
  std::mutex mutex_;  // guards the rest
  bool cancelled_ = false;
  std::unique_ptr<Call> current_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SEQUENCE_H_
