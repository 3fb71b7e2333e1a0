// The processor time of a thread, for others to read.
#ifndef TRELU_SERVER_THREAD_CLOCK_H_
#define TRELU_SERVER_THREAD_CLOCK_H_

#include <sys/types.h>

#include <mutex>
#include <optional>

namespace trelu::server {

// Costs the thread nothing while it runs: only who reads asks the system. Outlives its thread.
class ThreadClock {
 public:
  // The calling thread is measured from its start on, as long as this lives. One at a time.
  class Scope {
   public:
    explicit Scope(ThreadClock& clock);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ThreadClock& clock_;
  };

  // Zero before the thread has begun, and what it used in all after its end. Any thread.
  double Seconds() const;

 private:
  mutable std::mutex mutex_;
  std::optional<clockid_t> running_;  // valid while the thread is, so read under the mutex only
  double ended_at_ = 0;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_THREAD_CLOCK_H_
