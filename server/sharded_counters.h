// Counters that many threads raise without meeting.
#ifndef TRELU_SERVER_SHARDED_COUNTERS_H_
#define TRELU_SERVER_SHARDED_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trelu::server {

inline constexpr std::size_t kCounterShards = 8;

// The shard of the calling thread. More threads than shards share some, and stay right.
inline std::size_t ThisThreadShard() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t shard =
      threads.fetch_add(1, std::memory_order_relaxed) % kCounterShards;
  return shard;
}

// `N` counters that only rise. Any thread; a reader sees every increment that happened before it
// looked, and possibly later ones.
template <std::size_t N>
class ShardedCounters {
 public:
  void Add(std::size_t counter, std::uint64_t amount = 1) {
    shards_[ThisThreadShard()].values[counter].fetch_add(amount, std::memory_order_relaxed);
  }
  std::uint64_t Sum(std::size_t counter) const {
    std::uint64_t sum = 0;
    for (const Shard& shard : shards_) {
      sum += shard.values[counter].load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  static constexpr std::size_t kCacheLineBytes = 64;
  struct alignas(kCacheLineBytes) Shard {
    std::array<std::atomic<std::uint64_t>, N> values{};
  };
  std::array<Shard, kCounterShards> shards_{};
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_SHARDED_COUNTERS_H_
