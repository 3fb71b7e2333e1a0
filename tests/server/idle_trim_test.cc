#include "server/idle_trim.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace trelu::server {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

struct Moment {
  bool busy;
  std::uint64_t resident_bytes;
};

// At which of the moments, one for each look, there was a trim, which leaves 20 MiB.
std::vector<std::size_t> TrimsDuring(const std::vector<Moment>& moments) {
  std::mutex mutex;
  std::condition_variable seen;
  std::size_t looks = 0;
  bool trimmed = false;
  std::vector<std::size_t> trims;
  IdleTrim::System system = {
      .busy =
          [&] {
            const std::lock_guard lock(mutex);
            trimmed = false;
            const bool busy = looks >= moments.size() || moments[looks].busy;
            ++looks;
            seen.notify_one();
            return busy;
          },
      .resident_bytes =
          [&] {
            const std::lock_guard lock(mutex);
            return trimmed || looks == 0 ? 20 * kMib : moments.at(looks - 1).resident_bytes;
          },
      .trim =
          [&] {
            const std::lock_guard lock(mutex);
            trimmed = true;
            trims.push_back(looks - 1);
          }};
  {
    const IdleTrim trim(std::chrono::milliseconds(1), std::move(system));
    std::unique_lock lock(mutex);
    seen.wait(lock, [&] { return looks > moments.size(); });
  }
  return trims;
}

using Looks = std::vector<std::size_t>;

TEST(IdleTrimTest, GivesBackOnceAfterTwoQuietLooks) {
  EXPECT_EQ(TrimsDuring({{true, 600 * kMib},
                         {false, 600 * kMib},
                         {false, 600 * kMib},
                         {false, 20 * kMib},
                         {false, 20 * kMib}}),
            Looks{2});
}

TEST(IdleTrimTest, LeavesABusyServerAlone) {
  EXPECT_EQ(TrimsDuring({{true, 600 * kMib},
                         {false, 600 * kMib},
                         {true, 600 * kMib},
                         {false, 600 * kMib},
                         {true, 600 * kMib}}),
            Looks{});
}

TEST(IdleTrimTest, LeavesWhatIsNotWorthIt) {
  EXPECT_EQ(TrimsDuring({{false, 52 * kMib - 1}, {false, 52 * kMib - 1}, {false, 52 * kMib}}),
            Looks{2});
}

TEST(IdleTrimTest, ComesBackWhenTheProcessHasGrownAgain) {
  EXPECT_EQ(TrimsDuring({{false, 600 * kMib},
                         {false, 600 * kMib},
                         {true, 300 * kMib},
                         {false, 300 * kMib},
                         {false, 300 * kMib}}),
            (Looks{1, 4}));
}

}  // namespace
}  // namespace trelu::server
