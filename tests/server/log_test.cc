#include "server/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace trelu::server {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Standard error is a pipe of ours while a test runs.
class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_end_ = ends[0];
    // Only our end: the log must not need a descriptor that does not block.
    ASSERT_EQ(fcntl(read_end_, F_SETFL, O_NONBLOCK), 0);
    saved_ = dup(STDERR_FILENO);
    ASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    InitLog(LogFormat::kText);
    // Tells of the lines that an earlier test lost.
    Log(LogLevel::kInfo, "begin");
    Read();
  }
  void TearDown() override {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    if (read_end_ >= 0) close(read_end_);
  }

  // What is in the pipe now.
  std::string Read() const {
    std::string all;
    std::array<char, 4096> block{};
    for (ssize_t size = 0; (size = read(read_end_, block.data(), block.size())) > 0;) {
      all.append(block.data(), static_cast<std::size_t>(size));
    }
    return all;
  }
  std::vector<std::string> ReadLines() const {
    std::istringstream all(Read());
    std::vector<std::string> lines;
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
  }
  void CloseReader() {
    close(read_end_);
    read_end_ = -1;
  }

 private:
  int read_end_ = -1;
  int saved_ = -1;
};

constexpr char kTime[] = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z ";

TEST_F(LogTest, WritesALine) {
  Log(LogLevel::kInfo, "listening", {{"address", "[::1]:80"}});
  EXPECT_THAT(Read(),
              ContainsRegex(std::string(kTime) + "info  listening address=\\[::1\\]:80\n$"));
}

TEST_F(LogTest, WritesJsonWhenToldTo) {
  InitLog(LogFormat::kJson);
  Log(LogLevel::kError, "broken", {{"n", std::int64_t{3}}});
  const nlohmann::json line = nlohmann::json::parse(Read());
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["message"], "broken");
  EXPECT_EQ(line["n"], 3);
}

TEST_F(LogTest, DropsLinesInsteadOfWaitingAndSaysSo) {
  // Nobody reads: a log that waits would hang here.
  for (int i = 0; i < 20000; ++i) Log(LogLevel::kInfo, "filling", {{"i", std::int64_t{i}}});
  const std::vector<std::string> kept = ReadLines();
  ASSERT_FALSE(kept.empty());
  ASSERT_LT(kept.size(), 20000U);
  Log(LogLevel::kInfo, "again");
  EXPECT_THAT(Read(), HasSubstr("again lost_lines=" + std::to_string(20000 - kept.size())));
  Log(LogLevel::kInfo, "once more");
  EXPECT_THAT(Read(), Not(HasSubstr("lost_lines")));
}

TEST_F(LogTest, LivesOnWithoutAReader) {
  std::signal(SIGPIPE, SIG_DFL);
  CloseReader();
  Log(LogLevel::kInfo, "into the void");
}

TEST_F(LogTest, NeverMixesLinesOfThreads) {
  constexpr int kThreads = 8;
  constexpr int kLines = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (int line = 0; line < kLines; ++line) Log(LogLevel::kInfo, "one line", {{"end", "here"}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = ReadLines();
  EXPECT_EQ(lines.size(), kThreads * kLines);
  for (const std::string& line : lines) {
    EXPECT_THAT(line, ContainsRegex(std::string(kTime) + "info  one line end=here$"));
  }
}

TEST_F(LogTest, HoldsRepeatedLinesBack) {
  for (int i = 0; i < 100; ++i) LogSometimes("log_test", LogLevel::kWarning, "full");
  // One, or two should a second have passed.
  EXPECT_LE(ReadLines().size(), 2U);
}

TEST_F(LogTest, TakesInWhatGrpcSays) {
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
  gpr_log("src/core/some_file.cc", 7, GPR_LOG_SEVERITY_ERROR, "bad %s", "frame");
  EXPECT_THAT(Read(), ContainsRegex("error bad frame grpc=some_file.cc:7"));
  gpr_log("some_file.cc", 8, GPR_LOG_SEVERITY_DEBUG, "detail");
  EXPECT_THAT(Read(), ContainsRegex("info  detail grpc=some_file.cc:8"));
}

}  // namespace
}  // namespace trelu::server
