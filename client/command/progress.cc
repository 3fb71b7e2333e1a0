#include "client/command/progress.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace trelu::command {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kBetweenLines{100};
constexpr int kMinBar = 10;
constexpr int kMaxBar = 40;
constexpr std::string_view kClearLine = "\r\033[K";

std::string TimeText(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, 359999.0)));
  if (whole < 3600) return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be rounded to 1024.0.
  while (value >= 1023.95) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string RateText(std::uint64_t bytes, std::chrono::duration<double> time) {
  const double rate = time.count() > 0 ? static_cast<double>(bytes) / time.count() : 0;
  if (rate >= 1e9) return absl::StrFormat("%.2f GB/s", rate / 1e9);
  if (rate >= 1e6) return absl::StrFormat("%.1f MB/s", rate / 1e6);
  return absl::StrFormat("%.1f kB/s", rate / 1e3);
}

std::string ProgressLine(std::uint64_t done, std::uint64_t total,
                         std::chrono::duration<double> elapsed, int columns, bool color) {
  const double part = static_cast<double>(done) / static_cast<double>(total);
  std::string line = absl::StrFormat("%3d %%  %s of %s  %s", static_cast<int>(part * 100),
                                     BytesText(done), BytesText(total), RateText(done, elapsed));
  if (done > 0)
    absl::StrAppend(&line, "  ", TimeText(elapsed.count() * (1 - part) / part), " left");
  const int bar = std::min(columns - static_cast<int>(line.size()) - 4, kMaxBar);
  if (bar < kMinBar) return line.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
  const auto filled = static_cast<std::size_t>(part * bar);
  absl::StrAppend(&line, "  [", color ? "\033[32m" : "", std::string(filled, '='),
                  color ? "\033[0m" : "", std::string(static_cast<std::size_t>(bar) - filled, ' '),
                  "]");
  return line;
}

Progress::Progress(std::uint64_t total, int columns, bool color, Draw draw, Clock clock)
    : total_(total),
      columns_(columns),
      color_(color),
      draw_(std::move(draw)),
      clock_(std::move(clock)),
      begin_(clock_()),
      next_(begin_ + kPatience) {}

Progress::~Progress() {
  if (drawn_) draw_(std::string(kClearLine));
}

void Progress::Add(std::uint64_t bytes) {
  done_ += bytes;
  if (!draw_ || total_ == 0) return;
  const std::chrono::steady_clock::time_point now = clock_();
  if (now < next_) return;
  next_ = now + kBetweenLines;
  // The last column stays free: some terminals wrap as soon as it is written.
  draw_(absl::StrCat(absl::string_view(kClearLine.data(), kClearLine.size()),
                     ProgressLine(done_, total_, now - begin_, columns_ - 1, color_)));
  drawn_ = true;
}

}  // namespace trelu::command
