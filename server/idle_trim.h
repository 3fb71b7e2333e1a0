// Gives freed memory back to the system when the server has nothing to do.
#ifndef TRELU_SERVER_IDLE_TRIM_H_
#define TRELU_SERVER_IDLE_TRIM_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "server/periodic_thread.h"

namespace trelu::server {

// After many large messages the C library keeps hundreds of MiB of freed pages between those in
// use. They are worth keeping for the next messages, not for a silent night.
class IdleTrim {
 public:
  // Called by the object's own thread alone.
  struct System {
    std::function<bool()> busy;
    std::function<std::uint64_t()> resident_bytes;
    std::function<void()> trim;
  };
  // What a trim must be able to give back for it to be worth the faults afterwards.
  static constexpr std::uint64_t kWorthwhileBytes = std::uint64_t{32} << 20;

  // Looks every `interval`; trims when neither this look nor the last found it busy and the process
  // has grown since the last trim, or since the start.
  IdleTrim(std::chrono::milliseconds interval, System system);

  // malloc_trim(3), and what /proc says.
  static System Real(std::function<bool()> busy);

 private:
  void Look();

  const System system_;
  bool was_busy_ = true;
  std::uint64_t trimmed_bytes_;
  PeriodicThread thread_;  // last, as it uses the others
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_IDLE_TRIM_H_
