#include "server/corridor.h"

#include <utility>

#include "server/refusal.h"

namespace trelu::server {

absl::Status Corridor::Open() const { return draining.load() ? Draining() : absl::OkStatus(); }

absl::Status Corridor::CheckSize(std::uint64_t message_bytes) const {
  return message_bytes > options.max_message_bytes
             ? TooLarge(message_bytes, options.max_message_bytes)
             : absl::OkStatus();
}

absl::StatusOr<Admission::Ticket> Corridor::Admit(std::uint64_t bytes) {
  auto ticket = admission.TryAdmit(bytes);
  if (!ticket) return OverBudget(bytes, admission.max_bytes());
  return *std::move(ticket);
}

absl::StatusOr<Admission::Ticket> Corridor::AdmitShared(std::uint64_t bytes) {
  auto ticket = shared_admission.TryAdmit(bytes);
  if (!ticket) return OverSharedBudget(bytes, shared_admission.max_bytes());
  return *std::move(ticket);
}

}  // namespace trelu::server
