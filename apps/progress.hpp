// How far the work is, for someone who watches.
#pragma once

#include <cstddef>
#include <string>

namespace warpalign::program {

/// One line on stderr that is drawn again at every step, and removed at the end; nothing where
/// stderr is no terminal.
class Progress {
 public:
  explicit Progress(std::size_t steps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Starts the next step.
  void next(const std::string& what);
  /// Removes the line so that something else can be printed; the next step draws it again.
  void pause();
  /// Prints a line on stderr that stays, terminal or not.
  void say(const std::string& line) const;

 private:
  bool shown_;
  std::size_t steps_;
  std::size_t started_ = 0;
};

}  // namespace warpalign::program
