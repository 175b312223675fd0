// A status line on a terminal.
#include "io/status_line.hpp"

#include "io/messages.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>

namespace warpalign::program {
namespace {

constexpr const char* clear_line = "\r\x1b[K";

std::mutex drawing;
bool is_drawn = false;  // guarded by `drawing`
std::atomic<int> closer_ones{0};

std::size_t terminal_columns() {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : usual;
}

}  // namespace

bool shows_status() {
  static const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  return is_terminal && verbosity() != Verbosity::quiet;
}

std::string fitting_line(std::string_view text, std::size_t columns) {
  std::string line;
  std::size_t used = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Continuation bytes of UTF-8 take no column.
    if ((byte & 0xC0U) != 0x80U && ++used >= columns) break;
    line += byte < ' ' || c == '\x7f' ? ' ' : c;
  }
  return line;
}

void draw_status(const std::string& text) {
  if (!shows_status()) return;
  const std::string line = fitting_line(text, terminal_columns());
  const std::lock_guard lock(drawing);
  // Return the cursor to the start of the line, so that the next output replaces the line.
  fmt::print(stderr, "{}{}\r", clear_line, line);
  std::fflush(stderr);
  is_drawn = true;
}

void clear_status() {
  const std::lock_guard lock(drawing);
  if (!is_drawn) return;
  std::fputs(clear_line, stderr);
  std::fflush(stderr);
  is_drawn = false;
}

Activity::Activity(const std::string& what) : what_(what) {
  detail(what);
  if (shows_status()) thread_ = std::thread([this] { draw_each_second(); });
}

Activity::~Activity() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) thread_.join();
  clear_status();
}

void Activity::next(const std::string& what) {
  detail(what);
  const std::lock_guard lock(mutex_);
  what_ = what;
}

void Activity::draw_each_second() {
  std::unique_lock lock(mutex_);
  for (int seconds = 1; !ends_; ++seconds) {
    ended_.wait_for(lock, std::chrono::seconds(1), [this] { return ends_; });
    if (!ends_ && closer_ones == 0) draw_status(fmt::format("{} ... {} s", what_, seconds));
  }
}

StatusOverride::StatusOverride() { ++closer_ones; }
StatusOverride::~StatusOverride() { --closer_ones; }

}  // namespace warpalign::program
