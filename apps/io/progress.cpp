// Shows progress on a terminal.
#include "io/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace warpalign::program {
namespace {

constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

Progress::Progress(std::size_t steps) : shown_(::isatty(STDERR_FILENO) == 1), steps_(steps) {}

Progress::~Progress() {
  if (shown_ && started_ > 0) std::fputs(clear_line, stderr);
}

void Progress::pause() {
  if (!shown_ || started_ == 0) return;
  std::fputs(clear_line, stderr);
  std::fflush(stderr);
}

void Progress::next(const std::string& what) {
  constexpr std::size_t columns = 30;
  const std::size_t filled = steps_ == 0 ? 0 : columns * started_ / steps_;
  ++started_;
  if (!shown_) return;
  if (steps_ == 0) {
    fmt::print(stderr, "{}{} ...", clear_line, what);
    std::fflush(stderr);
    return;
  }
  fmt::print(stderr, "{}[{:<{}}] {}/{} {}", clear_line, std::string(filled, '#'), columns, started_,
             steps_, what);
  std::fflush(stderr);
}

void Progress::say(const std::string& line) const {
  fmt::print(stderr, "{}{}\n", shown_ && started_ > 0 ? clear_line : "", line);
}

}  // namespace warpalign::program
