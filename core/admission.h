// How much work may be in flight at once, counted in bytes.
#ifndef TRELU_CORE_ADMISSION_H_
#define TRELU_CORE_ADMISSION_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace trelu {

// A budget of bytes in flight. When nothing is in flight the next request is admitted whatever its
// size, so that the limit never makes a legal tensor impossible. Any thread, without locks.
// Outlives its tickets.
class Admission {
 public:
  explicit Admission(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // A share of the budget, given back when it goes. Movable; one owner.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket();

    std::uint64_t bytes() const { return bytes_; }

    // Makes the share `bytes` large if the budget has room (shrinking always succeeds, and so does
    // growing while no other ticket is out). Returns whether it did.
    bool Resize(std::uint64_t bytes);

   private:
    friend class Admission;
    Ticket(Admission* admission, std::uint64_t bytes) : admission_(admission), bytes_(bytes) {}
    Admission* admission_;
    std::uint64_t bytes_;
  };

  // Nothing when the budget is full.
  std::optional<Ticket> TryAdmit(std::uint64_t bytes);

  std::uint64_t bytes_in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  std::uint64_t max_bytes() const { return max_bytes_; }

 private:
  bool TryReplace(std::uint64_t held, std::uint64_t wanted);

  const std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> in_flight_{0};
};

}  // namespace trelu

#endif  // TRELU_CORE_ADMISSION_H_
