// A status line on a terminal, which is redrawn and finally removed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace warpalign::program {

/// Whether the status line is shown: stderr is a terminal and --quiet is not given.
[[nodiscard]] bool shows_status();

/// Cuts a text to one line of so many columns, because a wrapped line could not be removed. Control
/// characters, which file names may contain, become spaces.
[[nodiscard]] std::string fitting_line(std::string_view text, std::size_t columns);

/// Draws the line, cut to the terminal's width. The next output on the terminal replaces it.
void draw_status(const std::string& text);
/// Removes the line, if there is one.
void clear_status();

/// Describes the current activity while it exists. After one second the status line shows it with
/// the elapsed time, unless a StatusOverride exists.
class Activity {
 public:
  explicit Activity(const std::string& what);
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  ~Activity();

  /// Starts the next activity.
  void next(const std::string& what);

 private:
  void draw_each_second();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;
  bool ends_ = false;
  std::thread thread_;
};

/// Hides activities while it exists.
class StatusOverride {
 public:
  StatusOverride();
  StatusOverride(const StatusOverride&) = delete;
  StatusOverride& operator=(const StatusOverride&) = delete;
  ~StatusOverride();
};

}  // namespace warpalign::program
