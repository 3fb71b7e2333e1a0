#include "server/idle_trim.h"

#include <malloc.h>

#include <utility>

#include "server/process_metrics.h"

namespace trelu::server {

IdleTrim::IdleTrim(std::chrono::milliseconds interval, System system)
    : system_(std::move(system)),
      trimmed_bytes_(system_.resident_bytes()),
      thread_(interval, [this] { Look(); }) {}

void IdleTrim::Look() {
  const bool was_busy = std::exchange(was_busy_, system_.busy());
  if (was_busy || was_busy_ || system_.resident_bytes() < trimmed_bytes_ + kWorthwhileBytes) return;
  system_.trim();
  trimmed_bytes_ = system_.resident_bytes();
}

IdleTrim::System IdleTrim::Real(std::function<bool()> busy) {
  return {.busy = std::move(busy),
          .resident_bytes = [] { return ResidentBytes().value_or(0); },
          .trim = [] { malloc_trim(0); }};
}

}  // namespace trelu::server
