// Shows progress on a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace warpalign::program {

/// A line on stderr that is redrawn at every step and removed at the end. Prints nothing if stderr
/// is not a terminal.
class Progress {
 public:
  /// With 0 steps only what is being done is shown, not how much is left.
  explicit Progress(std::size_t steps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Starts the next step.
  void next(const std::string& what);
  /// Removes the line so that something else can be printed; the next step draws it again.
  void pause();
  /// Prints a permanent line on stderr, whether or not it is a terminal.
  void say(const std::string& line) const;

 private:
  bool shown_;
  std::size_t steps_;
  std::size_t started_ = 0;
};

}  // namespace warpalign::program
