// The part of a run that is measured: opened and closed by an answer, so that no request is cut.
#ifndef TRELU_TESTS_BENCHMARK_LOAD_WINDOW_H_
#define TRELU_TESTS_BENCHMARK_LOAD_WINDOW_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace trelu::benchmark {

using Clock = std::chrono::steady_clock;

// Processor time of all threads of a process so far, in seconds; 0 for no process.
double CpuSeconds(pid_t process);

// One thread.
class Window {
 public:
  // Open for `seconds`, and at least until a few times `in_flight` answers came, after a warm-up.
  Window(double seconds, int in_flight, pid_t server);

  // An answer came to a request that was sent at `sent`.
  void Answered(Clock::time_point sent);
  bool over() const { return over_; }
  // So far, those of the warm-up too.
  std::size_t answers() const { return warm_up_answers_ + seconds_each_.size(); }

  // One line of JSON, once the window is over. `bytes`: the payload of a request.
  std::string Report(std::size_t bytes) const;

 private:
  void Open(Clock::time_point now);

  const std::chrono::duration<double> seconds_;
  const std::size_t at_least_;
  const pid_t server_;
  const Clock::time_point begun_ = Clock::now();
  bool open_ = false;
  bool over_ = false;
  std::size_t warm_up_answers_ = 0;
  Clock::time_point opened_;
  Clock::time_point closed_;
  double server_cpu_ = 0;
  double client_cpu_ = 0;
  std::vector<float> seconds_each_;
};

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_LOAD_WINDOW_H_
