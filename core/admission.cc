#include "core/admission.h"

namespace trelu {

Admission::Ticket& Admission::Ticket::operator=(Ticket&& other) noexcept {
  // What this held goes with `taken`; a ticket assigned to itself keeps what it has.
  Ticket taken(std::move(other));
  std::swap(admission_, taken.admission_);
  std::swap(bytes_, taken.bytes_);
  return *this;
}

Admission::Ticket::~Ticket() {
  if (admission_ != nullptr) admission_->in_flight_.fetch_sub(bytes_, std::memory_order_relaxed);
}

bool Admission::Ticket::Resize(std::uint64_t bytes) {
  if (!admission_->TryReplace(bytes_, bytes)) return false;
  bytes_ = bytes;
  return true;
}

std::optional<Admission::Ticket> Admission::TryAdmit(std::uint64_t bytes) {
  if (!TryReplace(0, bytes)) return std::nullopt;
  return Ticket(this, bytes);
}

bool Admission::TryReplace(std::uint64_t held, std::uint64_t wanted) {
  // Relaxed: the counter guards no other memory, only its own sum.
  std::uint64_t in_flight = in_flight_.load(std::memory_order_relaxed);
  std::uint64_t others = 0;
  do {
    others = in_flight - held;
    const std::uint64_t room = max_bytes_ > others ? max_bytes_ - others : 0;
    if (wanted > held && others != 0 && wanted > room) return false;
  } while (
      !in_flight_.compare_exchange_weak(in_flight, others + wanted, std::memory_order_relaxed));
  return true;
}

}  // namespace trelu
