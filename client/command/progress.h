// How far a long transfer has come, on a terminal.
#ifndef TRELU_CLIENT_COMMAND_PROGRESS_H_
#define TRELU_CLIENT_COMMAND_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace trelu::command {

// "34359738368" as people read it: "32.0 GiB"; below 1 KiB "17 B".
std::string BytesText(std::uint64_t bytes);

// "1.70 GB/s": decimal units, as rates have.
std::string RateText(std::uint64_t bytes, std::chrono::duration<double> time);

// One line of at most `columns` characters (colour codes not counted), without a new line:
//   " 25 %  8.0 of 32.0 GiB  1.70 GB/s  0:15 left  [=====               ]"
// `total` is not 0. The bar is left out where there is no room for it.
std::string ProgressLine(std::uint64_t done, std::uint64_t total,
                         std::chrono::duration<double> elapsed, int columns, bool color);

// Draws that line over and over: ten times a second, and only for work that takes longer than a
// second.
class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Draw = std::function<void(const std::string&)>;

  // `draw` gets text to write as it is; an empty one draws nothing ever (no terminal).
  Progress(std::uint64_t total, int columns, bool color, Draw draw,
           Clock clock = std::chrono::steady_clock::now);
  // Clears the line if there is one.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `bytes` more are done.
  void Add(std::uint64_t bytes);

 private:
  std::uint64_t total_;
  int columns_;
  bool color_;
  Draw draw_;
  Clock clock_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
  std::uint64_t done_ = 0;
  bool drawn_ = false;
};

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_PROGRESS_H_
