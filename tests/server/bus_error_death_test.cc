// SIGBUS that the guard must leave alone, and memory that there is none of.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>

#include "server/shared_memory/bus_error_guard.h"
#include "tests/support/private_mounts.h"
#include "tests/support/shared_object.h"

namespace trelu::server {
namespace {

using trelu::testing::MountPrivately;
using trelu::testing::SharedObject;

constexpr std::size_t kPageBytes = 4096;
constexpr int kSurvived = 3;
constexpr int kHandledBefore = 7;
constexpr int kNotPermitted = 9;

// A page whose object is gone; never unmapped.
std::span<std::byte> LostPage() {
  const SharedObject object(kPageBytes);
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, object.fd(), 0);
  object.Resize(0);
  return {static_cast<std::byte*>(page), kPageBytes};
}

void Touch(std::span<std::byte> page) {
  *reinterpret_cast<volatile unsigned char*>(page.data()) = 1;
}

// By the signal; sanitizers have a handler of their own, which ends the process otherwise.
bool EndedByBusError(int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return WIFEXITED(status) ? WEXITSTATUS(status) != kSurvived : WIFSIGNALED(status);
#else
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
#endif
}

void SetDisposition(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGBUS, &action, nullptr);
}

// In processes of their own, where no guard has been before.
class BusErrorGuardDeath : public ::testing::Test {
 protected:
  BusErrorGuardDeath() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // As a process that guards something.
  static void Guard() { static auto guard = BusErrorGuard::Create(LostPage()); }
};

TEST_F(BusErrorGuardDeath, AFaultElsewhereEndsTheProcess) {
  EXPECT_EXIT(
      {
        Guard();
        Touch(LostPage());
        _exit(kSurvived);
      },
      EndedByBusError, "");
}

TEST_F(BusErrorGuardDeath, AGuardEndsWithItsLife) {
  EXPECT_EXIT(
      {
        const auto page = LostPage();
        std::optional guard = BusErrorGuard::Create(page);
        guard.reset();
        Touch(page);
        _exit(kSurvived);
      },
      EndedByBusError, "");
}

TEST_F(BusErrorGuardDeath, ASentSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        Guard();
        kill(getpid(), SIGBUS);
        _exit(kSurvived);
      },
      EndedByBusError, "");
}

TEST_F(BusErrorGuardDeath, AFaultElsewhereGoesToTheHandlerBefore) {
  EXPECT_EXIT(
      {
        SetDisposition([](int signal) { _exit(signal == SIGBUS ? kHandledBefore : kSurvived); });
        Guard();
        Touch(LostPage());
        _exit(kSurvived);
      },
      ::testing::ExitedWithCode(kHandledBefore), "");
}

TEST_F(BusErrorGuardDeath, AFaultElsewhereGoesToTheDetailedHandlerBefore) {
  EXPECT_EXIT(
      {
        static const auto page = LostPage();
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t* info, void* context) {
          _exit(info->si_addr == page.data() && context != nullptr ? kHandledBefore : kSurvived);
        };
        sigaction(SIGBUS, &action, nullptr);
        Guard();
        Touch(page);
        _exit(kSurvived);
      },
      ::testing::ExitedWithCode(kHandledBefore), "");
}

TEST_F(BusErrorGuardDeath, WhatWasIgnoredIsIgnoredIfSentOnly) {
  EXPECT_EXIT(
      {
        SetDisposition(SIG_IGN);
        Guard();
        kill(getpid(), SIGBUS);
        _exit(kSurvived);
      },
      ::testing::ExitedWithCode(kSurvived), "");
  EXPECT_EXIT(
      {
        SetDisposition(SIG_IGN);
        Guard();
        Touch(LostPage());
        _exit(kSurvived);
      },
      EndedByBusError, "");
}

TEST_F(BusErrorGuardDeath, AGuardedFaultSurvivesInAProcessThatHasNoHandler) {
  EXPECT_EXIT(
      {
        const auto page = LostPage();
        const auto guard = BusErrorGuard::Create(page);
        Touch(page);
        _exit(guard->lost() ? kSurvived : 0);
      },
      ::testing::ExitedWithCode(kSurvived), "");
}

TEST_F(BusErrorGuardDeath, AFullFileSystemIsSurvived) {
  const auto ended = [](int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPermitted) {
      std::printf("not tried: mounting is not permitted\n");
      return true;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == kSurvived;
  };
  EXPECT_EXIT(
      {
        if (!MountPrivately("tmpfs", "/dev/shm", "size=64k")) _exit(kNotPermitted);
        const SharedObject object(32 * kPageBytes);
        void* const mapped =
            mmap(nullptr, 32 * kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, object.fd(), 0);
        const std::span pages(static_cast<std::byte*>(mapped), 32 * kPageBytes);
        const auto guard = BusErrorGuard::Create(pages);
        for (std::size_t page = 0; page < 32; ++page) Touch(pages.subspan(page * kPageBytes));
        _exit(guard->lost() ? kSurvived : 0);
      },
      ended, "");
}

}  // namespace
}  // namespace trelu::server
