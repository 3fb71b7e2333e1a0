// A server on this host, as one that may share memory.
#ifndef TRELU_CLIENT_SHARED_MEMORY_LOCAL_SERVER_H_
#define TRELU_CLIENT_SHARED_MEMORY_LOCAL_SERVER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "client/async_calls.h"
#include "client/retry.h"
#include "client/shared_memory/local_call.h"
#include "client/shared_memory/region_call.h"
#include "client/shared_memory/region_pool.h"
#include "client/shared_memory/shared_buffers.h"
#include "trelu/client.h"
#include "trelu/tensor_spec.h"

namespace trelu {

// Everything of a client's that has to do with shared memory. Any thread. Must outlive the calls
// that it makes; has the server forget its regions when it goes, within a second.
class LocalServer {
 public:
  // `async_calls` carries unregistrations until Close, so that nobody waits for them.
  LocalServer(RegionCall::NextChannel next_channel, std::function<RetrySchedule()> new_schedule,
              AsyncCalls& async_calls);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // `ordinary` makes the call when shared memory is not to be had.
  std::unique_ptr<Call> MakeCall(Deadline deadline, const TensorSpec& spec,
                                 std::span<const std::byte> x, std::span<std::byte> y,
                                 std::optional<float> alpha, LocalCall::Ordinary ordinary);

  // Nothing when there is no sharing; it may be had later.
  std::unique_ptr<SharedBuffer> NewBuffer(std::size_t bytes);

  // Before `async_calls` goes.
  void Close() { registrations_->Close(); }

 private:
  void Unregister(const std::string& name);

  const RegionCall::NextChannel next_channel_;
  const std::function<RetrySchedule()> new_schedule_;
  AsyncCalls& async_calls_;
  const std::shared_ptr<Registrations> registrations_;
  const std::shared_ptr<SharedBuffers> buffers_ = std::make_shared<SharedBuffers>();
  RegionPool pool_;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_SHARED_MEMORY_LOCAL_SERVER_H_
