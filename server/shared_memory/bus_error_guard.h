// Survival of SIGBUS on mapped memory whose object somebody else has shrunk.
#ifndef TRELU_SERVER_SHARED_MEMORY_BUS_ERROR_GUARD_H_
#define TRELU_SERVER_SHARED_MEMORY_BUS_ERROR_GUARD_H_

#include <cstddef>
#include <optional>
#include <span>

namespace trelu::server {

// While it lives, an access to `pages` that the kernel cannot serve (the object was truncated, or
// its file system is full) does not end the process: the handler puts zeroed memory of the process
// in place of all pages, lost() becomes true, and the access is repeated.
//
// All pages go at once, those that were still good too. A shrunk object is not what was registered,
// so everyone who works on it must fail; and one mapping replaced by another is a system call that
// needs no new mapping, may be made by several threads at the same time, and never cuts a mapping
// in two. lost() turns true first, so who read a zero that is not the object's, or wrote where the
// object no longer is, sees it.
//
// Whoever touches the pages keeps the guard alive meanwhile; claiming and releasing others is free
// for any thread at any time. Release before the pages are unmapped. The handler is installed by
// the first guard, for the whole process; what is not about guarded pages goes to the disposition
// that was there before. Where the kernel counts strictly (vm.overcommit_memory=2) and refuses the
// memory, the signal goes there too.
class BusErrorGuard {
 public:
  static constexpr std::size_t kMaxGuards = 4096;

  // `pages` begins at a page, and the page where it ends is all ours; mapped readable and writable.
  // Nothing when kMaxGuards live already. Any thread.
  static std::optional<BusErrorGuard> Create(std::span<std::byte> pages);

  BusErrorGuard(BusErrorGuard&& other) noexcept;
  BusErrorGuard& operator=(BusErrorGuard&&) = delete;
  ~BusErrorGuard();

  // Once true it stays so. Sees what happened to every access that this thread made before. Any
  // thread.
  bool lost() const;

 private:
  explicit BusErrorGuard(std::size_t slot) : slot_(slot) {}

  std::size_t slot_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SHARED_MEMORY_BUS_ERROR_GUARD_H_
