#include "core/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace trelu {
namespace {

TEST(AdmissionTest, AdmitsUpToTheBudget) {
  Admission admission(100);
  auto first = admission.TryAdmit(60);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes(), 60U);
  EXPECT_FALSE(admission.TryAdmit(41));
  auto second = admission.TryAdmit(40);
  EXPECT_TRUE(second);
  EXPECT_EQ(admission.bytes_in_flight(), 100U);
  EXPECT_FALSE(admission.TryAdmit(1));
  EXPECT_EQ(admission.max_bytes(), 100U);
}

TEST(AdmissionTest, GivesBackWhenATicketGoes) {
  Admission admission(100);
  { const auto ticket = admission.TryAdmit(100); }
  EXPECT_EQ(admission.bytes_in_flight(), 0U);
  EXPECT_TRUE(admission.TryAdmit(100));
}

TEST(AdmissionTest, AdmitsOneOfAnySizeWhenIdle) {
  for (const std::uint64_t size : {std::uint64_t{101}, std::uint64_t{1} << 40, UINT64_MAX}) {
    Admission admission(100);
    const auto ticket = admission.TryAdmit(size);
    ASSERT_TRUE(ticket);
    EXPECT_FALSE(admission.TryAdmit(1));
    EXPECT_FALSE(admission.TryAdmit(UINT64_MAX));
  }
}

TEST(AdmissionTest, RefusesSizesThatWouldWrap) {
  Admission admission(100);
  const auto ticket = admission.TryAdmit(10);
  EXPECT_FALSE(admission.TryAdmit(UINT64_MAX));
  EXPECT_FALSE(admission.TryAdmit(UINT64_MAX - 9));
  EXPECT_EQ(admission.bytes_in_flight(), 10U);
}

TEST(AdmissionTest, AdmitsEmptyTensorsAlways) {
  Admission admission(100);
  const auto full = admission.TryAdmit(100);
  EXPECT_TRUE(admission.TryAdmit(0));
}

TEST(AdmissionTest, ResizesWithinTheBudget) {
  Admission admission(100);
  auto ticket = admission.TryAdmit(10);
  auto other = admission.TryAdmit(50);
  EXPECT_TRUE(ticket->Resize(50));
  EXPECT_FALSE(ticket->Resize(51));
  EXPECT_EQ(ticket->bytes(), 50U);
  EXPECT_EQ(admission.bytes_in_flight(), 100U);
  EXPECT_TRUE(ticket->Resize(0));
  EXPECT_EQ(admission.bytes_in_flight(), 50U);
  EXPECT_FALSE(ticket->Resize(UINT64_MAX));
}

TEST(AdmissionTest, GrowsBeyondTheBudgetWhenAlone) {
  Admission admission(100);
  auto ticket = admission.TryAdmit(10);
  EXPECT_TRUE(ticket->Resize(1000));
  EXPECT_EQ(admission.bytes_in_flight(), 1000U);
  // Above the budget, shrinking still succeeds.
  EXPECT_TRUE(ticket->Resize(500));
  EXPECT_FALSE(admission.TryAdmit(1));
}

TEST(AdmissionTest, TicketsMove) {
  Admission admission(100);
  auto first = admission.TryAdmit(60);
  auto second = admission.TryAdmit(30);
  *first = *std::move(second);
  EXPECT_EQ(admission.bytes_in_flight(), 30U);
  EXPECT_EQ(first->bytes(), 30U);
  EXPECT_EQ(second->bytes(), 0U);  // NOLINT(bugprone-use-after-move): what is left is the point
  second.reset();
  EXPECT_EQ(admission.bytes_in_flight(), 30U);
  Admission::Ticket& same = *first;
  *first = std::move(same);
  EXPECT_EQ(admission.bytes_in_flight(), 30U);
  EXPECT_EQ(first->bytes(), 30U);
}

TEST(AdmissionTest, NeverExceedsTheBudgetUnderManyThreads) {
  constexpr std::uint64_t kBudget = 1000;
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  Admission admission(kBudget);
  std::atomic<std::uint64_t> held = 0;
  std::atomic<std::uint64_t> most = 0;
  std::atomic<std::uint64_t> admitted = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t bytes = static_cast<std::uint64_t>(round * 7 + i * 131) % 600;
        auto ticket = admission.TryAdmit(bytes);
        if (!ticket) continue;
        ++admitted;
        const std::uint64_t now = held += bytes;
        std::uint64_t seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        held -= bytes;
        ticket->Resize(bytes / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, kBudget);
  EXPECT_GT(admitted, 0U);
  EXPECT_EQ(admission.bytes_in_flight(), 0U);
}

}  // namespace
}  // namespace trelu
