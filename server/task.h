// The type of a call handler: a coroutine that starts at once and owns itself.
#ifndef TRELU_SERVER_TASK_H_
#define TRELU_SERVER_TASK_H_

#include <coroutine>
#include <exception>

namespace trelu::server {

// Runs until its first wait inside the call that makes it; its frame goes when it ends. Nobody
// holds it, so each handler counts itself (LiveCount) and the server waits for the count. Two
// things hold for every handler, both learnt from g++ 12.2, which destroys such temporaries twice:
// inside a co_await expression a lambda captures by reference only, and no braced aggregate is
// built.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_TASK_H_
