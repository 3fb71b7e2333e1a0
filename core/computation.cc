#include "core/computation.h"

#include <algorithm>
#include <utility>

namespace trelu {

Computation::Computation(Work work, std::function<bool()> should_stop)
    : work_(std::move(work)),
      should_stop_(std::move(should_stop)),
      // An empty run is one empty block, so that it too has a block that finishes last.
      blocks_(std::max<std::size_t>(1, (work_.x.bytes() + kBlockBytes - 1) / kBlockBytes)) {}

bool Computation::Run() {
  while (RunBlock()) {
  }
  return completed();
}

bool Computation::RunBlock() {
  ComputeUnlessStopped(next_block_++);
  return next_block_ < blocks_ && completed();
}

void Computation::RunOn(Executor& executor, std::function<void(bool)> done) {
  done_ = std::move(done);
  std::size_t pieces = 1;
  if (work_.x.bytes() >= kSplitBytes) {
    pieces = std::min(static_cast<std::size_t>(executor.width()), blocks_);
  }
  // From the first Schedule on, this object may be gone: only local values from here.
  auto claims = std::make_shared<Claims>(blocks_);
  for (std::size_t i = 0; i < pieces; ++i) {
    executor.Schedule([this, claims] { ComputeClaimed(*claims); });
  }
}

void Computation::ComputeClaimed(Claims& claims) {
  while (true) {
    const std::size_t block = claims.next.fetch_add(1, std::memory_order_relaxed);
    // A piece that comes late finds every block claimed, and must not look at the object, which may
    // be gone.
    if (block >= claims.blocks) return;
    ComputeUnlessStopped(block);
    // Releases this block's bytes to, and acquires all others' for, the thread that calls done.
    if (claims.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const bool complete = completed();
      const std::function<void(bool)> done = std::move(done_);
      done(complete);
      return;
    }
  }
}

void Computation::ComputeUnlessStopped(std::size_t block) {
  if (stopped_.load(std::memory_order_relaxed)) return;
  if ((should_stop_ && should_stop_()) || (work_.is_void && work_.is_void())) {
    stopped_.store(true, std::memory_order_relaxed);
    return;
  }
  const std::size_t begin = block * kBlockBytes;
  const std::size_t end = std::min(begin + kBlockBytes, work_.x.bytes());
  if (work_.y == nullptr) {
    work_.x.ApplyInPlace(work_.op, begin, end);
  } else {
    work_.x.Apply(work_.op, begin, end, work_.y + begin);
  }
}

}  // namespace trelu
