// Shows progress on a terminal.
#pragma once

#include "io/status_line.hpp"

#include <cstddef>
#include <string>

namespace warpalign::program {

/// A line on stderr that is redrawn at every step and removed at the end. Prints nothing if stderr
/// is not a terminal, or with --quiet.
class Progress {
 public:
  /// With 0 steps the line shows the current step, but not how much is left.
  explicit Progress(std::size_t steps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Starts the next step.
  void next(const std::string& what);
  /// Removes the line so that other text can be printed. The next step draws it again.
  void pause();
  /// Prints a permanent line on stderr, whether or not it is a terminal.
  void say(const std::string& line) const;

 private:
  StatusOverride closer_;
  std::size_t steps_;
  std::size_t started_ = 0;
};

}  // namespace warpalign::program
