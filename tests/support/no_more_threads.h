// The system gives this process no further thread.
#ifndef TRELU_TESTS_SUPPORT_NO_MORE_THREADS_H_
#define TRELU_TESTS_SUPPORT_NO_MORE_THREADS_H_

#include <pthread.h>

#include <cstddef>

namespace trelu::testing {

// As long as it lives, by asking for stacks that no machine has. For threads with the default
// attributes, as std::thread's.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
    pthread_setattr_default_np(&huge);
  }
  ~NoMoreThreads() { pthread_setattr_default_np(&before_); }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_NO_MORE_THREADS_H_
