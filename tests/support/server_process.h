// The real binary, trelu-server, as a child process.
#ifndef TRELU_TESTS_SUPPORT_SERVER_PROCESS_H_
#define TRELU_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trelu::testing {

// Killed when it goes, if it still runs. One thread.
class ServerProcess {
 public:
  // `arguments` after the program's name; `environment` as "NAME=value", beside this process' own.
  explicit ServerProcess(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Waits for the ready line; false when the process ended (or a minute passed) without it.
  bool WaitUntilReady();
  // From the ready line.
  const std::string& ready_line() const { return ready_line_; }
  std::string target(std::size_t listener = 0) const;
  std::string admin_address() const;

  void Signal(int number) const;
  // The exit code, or minus the signal that killed it. Nothing when it still runs after a minute.
  std::optional<int> Wait();

  pid_t pid() const { return pid_; }
  // Of everything the process has written so far.
  std::string out();
  std::string err();
  // Waits until standard error holds `text`; false when a minute passed or the process ended
  // without.
  bool WaitForError(const std::string& text);

  // From /proc.
  std::uint64_t resident_bytes() const;
  int open_files() const;

 private:
  bool TryReap();

  pid_t pid_ = -1;
  std::string out_path_;
  std::string err_path_;
  std::optional<int> exit_;
  std::string ready_line_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_SERVER_PROCESS_H_
