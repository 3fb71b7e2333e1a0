// Mounts that only this process sees.
#ifndef TRELU_TESTS_SUPPORT_PRIVATE_MOUNTS_H_
#define TRELU_TESTS_SUPPORT_PRIVATE_MOUNTS_H_

#include <sched.h>
#include <sys/mount.h>

namespace trelu::testing {

// Hides `directory` under a file system of `type` for the calling thread, its children and no one
// else; for a process of its own, such as a death test's. False where the user may not.
inline bool MountPrivately(const char* type, const char* directory, const char* options) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", directory, type, 0, options) == 0;
}

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_PRIVATE_MOUNTS_H_
