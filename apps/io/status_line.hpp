// One line on a terminal that says what is being done; it is redrawn, and removed at the end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace warpalign::program {

/// Whether stderr is a terminal and the program is not to be quiet: nothing is drawn elsewhere.
[[nodiscard]] bool shows_status();

/// The text as one line of a terminal with so many columns: a line that wraps could not be removed
/// again. Control characters become spaces, since names of files may have any.
[[nodiscard]] std::string fitting_line(std::string_view text, std::size_t columns);

/// Draws the line, cut to the terminal's width. Whatever is printed on the terminal next replaces
/// it.
void draw_status(const std::string& text);
/// Removes the line, if there is one.
void clear_status();

/// What the program is doing while this lives. From the second second on it is drawn, with the
/// time, unless something else draws what it does more closely.
class Activity {
 public:
  explicit Activity(const std::string& what);
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  ~Activity();

  /// Begins the next one.
  void next(const std::string& what);

 private:
  void draw_each_second();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;
  bool ends_ = false;
  std::thread thread_;
};

/// While one of these lives, activities are not drawn.
class CloserStatus {
 public:
  CloserStatus();
  CloserStatus(const CloserStatus&) = delete;
  CloserStatus& operator=(const CloserStatus&) = delete;
  ~CloserStatus();
};

}  // namespace warpalign::program
