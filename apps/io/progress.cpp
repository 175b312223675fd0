// Shows progress on a terminal.
#include "io/progress.hpp"

#include "io/messages.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace warpalign::program {

Progress::Progress(std::size_t steps) : steps_(steps) {}

Progress::~Progress() { clear_status(); }

void Progress::pause() { clear_status(); }

void Progress::next(const std::string& what) {
  detail(what);
  constexpr std::size_t columns = 30;
  const std::size_t filled = steps_ == 0 ? 0 : columns * started_ / steps_;
  ++started_;
  if (steps_ == 0) return draw_status(what + " ...");
  draw_status(
      fmt::format("[{:<{}}] {}/{} {}", std::string(filled, '#'), columns, started_, steps_, what));
}

void Progress::say(const std::string& line) const {
  clear_status();
  fmt::print(stderr, "{}\n", line);
}

}  // namespace warpalign::program
