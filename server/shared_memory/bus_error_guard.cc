#include "server/shared_memory/bus_error_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

namespace trelu::server {
namespace {

// What the handler knows of a guard. It may read a slot while that is claimed or released, so every
// claim and every release changes `version`: a slot that had the same odd version before and after
// was read whole. The slot that a fault is about never changes, since the faulting thread keeps its
// guard alive.
struct Slot {
  std::atomic<std::uint64_t> version;  // odd while claimed
  std::atomic<std::uintptr_t> begin;
  std::atomic<std::uintptr_t> end;
  std::atomic<unsigned> lost;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uintptr_t>::is_always_lock_free &&
              std::atomic<unsigned>::is_always_lock_free);

constinit std::array<Slot, BusErrorGuard::kMaxGuards> g_slots{};
constinit std::mutex g_claims;  // held by who claims or releases, never by the handler
constexpr std::size_t kNoSlot = BusErrorGuard::kMaxGuards;

struct sigaction g_previous;  // written once, before the handler is installed

// Only calls that are safe in a signal handler, down to the end of HandleBusError.
bool ReplacePagesAt(std::uintptr_t address) {
  for (Slot& slot : g_slots) {
    const std::uint64_t version = slot.version;
    const std::uintptr_t begin = slot.begin;
    const std::uintptr_t end = slot.end;
    if (version % 2 == 0 || slot.version != version) continue;
    if (address < begin || address >= end) continue;
    // Before the pages go, so that nobody can meet the new ones and find this false.
    slot.lost = 1;
    // The bare system call: sanitizers do work of their own in mmap, unfit for a handler.
    return syscall(SYS_mmap, begin, end - begin, PROT_READ | PROT_WRITE,
                   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) >= 0;
  }
  return false;
}

void PassOn(int signal, siginfo_t* info, void* context) {
  if ((g_previous.sa_flags & SA_SIGINFO) != 0) {
    g_previous.sa_sigaction(signal, info, context);
    return;
  }
  const bool sent_by_process = info->si_code <= 0;
  if (g_previous.sa_handler == SIG_IGN && sent_by_process) return;
  if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
    g_previous.sa_handler(signal);
    return;
  }
  // A fault happens again on return, and ends the process where it was; a sent signal does not.
  struct sigaction deadly {};
  deadly.sa_handler = SIG_DFL;
  sigaction(signal, &deadly, nullptr);
  if (sent_by_process) raise(signal);
}

void HandleBusError(int signal, siginfo_t* info, void* context) {
  const int interrupted_errno = errno;
  if (info->si_code != BUS_ADRERR ||
      !ReplacePagesAt(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    PassOn(signal, info, context);
  }
  errno = interrupted_errno;
}

bool InstallHandler() {
  sigaction(SIGBUS, nullptr, &g_previous);
  struct sigaction ours {};
  ours.sa_sigaction = HandleBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGBUS, &ours, nullptr);
  return true;
}

}  // namespace

std::optional<BusErrorGuard> BusErrorGuard::Create(std::span<std::byte> pages) {
  [[maybe_unused]] static const bool installed = InstallHandler();
  const std::lock_guard lock(g_claims);
  for (std::size_t i = 0; i < g_slots.size(); ++i) {
    Slot& slot = g_slots[i];
    if (slot.version % 2 != 0) continue;
    slot.begin = reinterpret_cast<std::uintptr_t>(pages.data());
    slot.end = slot.begin + pages.size();
    slot.lost = 0;
    ++slot.version;
    return BusErrorGuard(i);
  }
  return std::nullopt;
}

BusErrorGuard::BusErrorGuard(BusErrorGuard&& other) noexcept
    : slot_(std::exchange(other.slot_, kNoSlot)) {}

BusErrorGuard::~BusErrorGuard() {
  if (slot_ == kNoSlot) return;
  const std::lock_guard lock(g_claims);
  ++g_slots[slot_].version;
}

bool BusErrorGuard::lost() const {
  // A plain load could be made before the accesses that it is to tell about.
  return g_slots[slot_].lost.fetch_or(0) != 0;
}

}  // namespace trelu::server
