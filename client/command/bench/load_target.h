// What a load is put on.
#ifndef TRELU_CLIENT_COMMAND_BENCH_LOAD_TARGET_H_
#define TRELU_CLIENT_COMMAND_BENCH_LOAD_TARGET_H_

#include <absl/status/status.h>

#include <cstddef>
#include <functional>

namespace trelu::command {

// Answers requests. A slot is the place of one request in flight, numbered from zero, with whatever
// buffers that needs. Implemented by the client's ways to send a tensor and, in tests, by a
// simulation; other ways to reach a server are further implementations.
class LoadTarget {
 public:
  using Done = std::function<void(const absl::Status&)>;

  virtual ~LoadTarget() = default;

  // Sends one request and returns without waiting for its answer. `done` is called once, on any
  // thread, maybe before Send returns; it may Send again. At most one request per slot is in
  // flight. Any thread.
  virtual void Send(std::size_t slot, Done done) = 0;

  // Makes the requests in flight end soon, with any status. No Send is under way, none comes after.
  virtual void Abandon() = 0;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_BENCH_LOAD_TARGET_H_
