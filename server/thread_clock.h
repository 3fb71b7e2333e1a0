// How long a thread ran and how long it waited for a processor, for others to read.
#ifndef TRELU_SERVER_THREAD_CLOCK_H_
#define TRELU_SERVER_THREAD_CLOCK_H_

#include <sys/types.h>

#include <mutex>
#include <optional>

namespace trelu::server {

struct ThreadTime {
  double ran = 0;     // seconds on a processor
  double waited = 0;  // seconds that it could have run and had no processor; zero where not known
};

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

  // Zero before the thread has begun, and what it was in all after its end. Any thread.
  ThreadTime Read() const;

 private:
  struct Running {
    clockid_t clock;  // valid while the thread is, so read under the mutex only
    int schedstat;    // file descriptor, -1 where the system keeps no such account

    ThreadTime Read() const;
  };

  mutable std::mutex mutex_;
  std::optional<Running> running_;
  ThreadTime ended_at_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_THREAD_CLOCK_H_
