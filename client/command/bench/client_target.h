// The client library's ways to send a tensor, as targets of a load.
#ifndef TRELU_CLIENT_COMMAND_BENCH_CLIENT_TARGET_H_
#define TRELU_CLIENT_COMMAND_BENCH_CLIENT_TARGET_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "client/command/bench/load_target.h"
#include "client/command/bench/test_tensor.h"
#include "trelu/client.h"

namespace trelu::command {

// Sends the same tensor each time. Destroyed only when no request is in flight.
class ClientTarget : public LoadTarget {
 public:
  // Whether answers are compared with what they must be; a wrong one is DATA_LOSS. Comparing costs
  // more than computing, so it is for a pass that is not timed. Off at first.
  void set_verify(bool verify) { verify_ = verify; }

 protected:
  bool verify() const { return verify_; }

 private:
  std::atomic<bool> verify_ = false;
};

// By Client::ApplyAsync: memory for one request, and for the answer of each slot.
class CallTarget final : public ClientTarget {
 public:
  CallTarget(std::unique_ptr<Client> client, const TensorSpec& spec, const ApplyOptions& options,
             std::size_t slots);

  void Send(std::size_t slot, Done done) override;
  // Destroys the client: the target is of no use afterwards.
  void Abandon() override { client_.reset(); }

 private:
  struct Slot {
    std::vector<std::byte> y;
    Done done;
  };
  void Answered(std::size_t slot, absl::Status status);

  const TensorSpec spec_;
  const ApplyOptions options_;
  const TestTensor tensor_;
  std::vector<std::byte> x_;
  std::vector<Slot> slots_;
  std::unique_ptr<Client> client_;  // last: it ends the calls that use the rest
};

// By Client::ApplyStream, in constant memory: a thread for each slot.
class StreamTarget final : public ClientTarget {
 public:
  StreamTarget(std::unique_ptr<Client> client, const TensorSpec& spec, const ApplyOptions& options,
               std::size_t slots);
  ~StreamTarget() override;

  void Send(std::size_t slot, Done done) override;
  // Ends the streams at their next piece.
  void Abandon() override { abandoned_ = true; }

 private:
  struct Slot {
    std::mutex mutex;
    std::condition_variable wake;
    Done next;             // guarded by mutex; empty: nothing to send
    bool closing = false;  // guarded by mutex
    std::thread thread;
  };
  void Serve(Slot& slot);
  absl::Status Stream();

  const TensorSpec spec_;
  const ApplyOptions options_;
  const TestTensor tensor_;
  std::unique_ptr<Client> client_;
  std::atomic<bool> abandoned_ = false;
  std::vector<Slot> slots_;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_CLIENT_TARGET_H_
