#include "tests/support/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace trelu::testing {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string NewTemporaryFile() {
  std::string path = (std::filesystem::temp_directory_path() / "trelu-test-XXXXXX").string();
  const int fd = mkstemp(path.data());
  if (fd < 0) throw std::runtime_error("cannot make a file in " + path);
  close(fd);
  return path;
}

bool Within(std::chrono::seconds limit, const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

constexpr std::chrono::seconds kPatience(60);

// The word of `line` after `key`.
std::string Field(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return line.substr(begin, line.find_first_of(" \n", begin) - begin);
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment)
    : out_path_(NewTemporaryFile()), err_path_(NewTemporaryFile()) {
  std::vector<std::string> words = {TRELU_SERVER_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_path_.c_str(), O_WRONLY | O_APPEND,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_path_.c_str(), O_WRONLY | O_APPEND,
                                   0);
  const int error = posix_spawn(&pid_, TRELU_SERVER_BINARY, &files, nullptr, Pointers(words).data(),
                                Pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("cannot run " TRELU_SERVER_BINARY);
}

ServerProcess::~ServerProcess() {
  if (!TryReap()) {
    Signal(SIGKILL);
    Wait();
  }
  std::filesystem::remove(out_path_);
  std::filesystem::remove(err_path_);
}

bool ServerProcess::TryReap() {
  if (exit_) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return true;
}

bool ServerProcess::WaitUntilReady() {
  const auto ready = [this] {
    const std::string text = out();
    const std::size_t at = text.find(" ready ");
    const std::size_t end = text.find('\n', at == std::string::npos ? 0 : at);
    if (at == std::string::npos || end == std::string::npos) return false;
    ready_line_ = text.substr(0, end);
    return true;
  };
  Within(kPatience, [&] { return ready() || TryReap(); });
  return !ready_line_.empty() && !exit_;
}

std::string ServerProcess::target(std::size_t listener) const {
  std::istringstream listed(Field(ready_line_, "listen="));
  std::string address;
  for (std::size_t i = 0; i <= listener; ++i) std::getline(listed, address, ',');
  return address;
}

std::string ServerProcess::admin_address() const { return Field(ready_line_, "admin="); }

void ServerProcess::Signal(int number) const { kill(pid_, number); }

std::optional<int> ServerProcess::Wait() {
  Within(kPatience, [this] { return TryReap(); });
  return exit_;
}

std::string ServerProcess::out() { return ReadFile(out_path_); }
std::string ServerProcess::err() { return ReadFile(err_path_); }

bool ServerProcess::WaitForError(const std::string& text) {
  const auto there = [&] { return err().find(text) != std::string::npos; };
  Within(kPatience, [&] { return there() || TryReap(); });
  return there();
}

std::uint64_t ServerProcess::resident_bytes() const {
  std::ifstream statm("/proc/" + std::to_string(pid_) + "/statm");
  std::uint64_t size_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> size_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

int ServerProcess::open_files() const {
  int count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/fd")) {
    ++count;
  }
  return count;
}

}  // namespace trelu::testing
