#include "client/command/bench/clock.h"

#include <sys/prctl.h>

namespace trelu::command {

SteadyClock::SteadyClock() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

}  // namespace trelu::command
