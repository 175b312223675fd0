// What the program does about kernels being compiled: it says so, and has others help.
#include "commands/compilation_watch.hpp"

#include <warpalign/compilation.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <utility>

namespace warpalign::program {
namespace {

constexpr const char* clear_line = "\r\x1b[K";
constexpr std::size_t many = 4;  // programs: fewer are compiled before help has begun

std::mutex slow_mutex;
std::function<void()> start_help;  // behind slow_mutex

void call_for_help(const CompilationProgress& progress) {
  if (!progress.one_at_a_time || progress.total - progress.compiled < many) return;
  std::function<void()> start;
  {
    const std::lock_guard lock(slow_mutex);
    start = std::exchange(start_help, nullptr);
  }
  if (start) start();
}

void say(const CompilationProgress& progress) {
  if (progress.finished()) {
    std::fputs(clear_line, stderr);
  } else {
    // The cursor goes back to the line's beginning: whatever is printed next replaces it.
    fmt::print(stderr, "{}compiling kernels for this device, once: {} of {}\r", clear_line,
               progress.compiled + 1, progress.total);
  }
  std::fflush(stderr);
}

}  // namespace

CompilationWatch::CompilationWatch() {
  const bool shown = ::isatty(STDERR_FILENO) == 1;
  observe_compilation([shown](const CompilationProgress& progress) {
    call_for_help(progress);
    if (shown) say(progress);
  });
}

CompilationWatch::~CompilationWatch() { observe_compilation({}); }

void CompilationWatch::when_slow(std::function<void()> start) {
  const std::lock_guard lock(slow_mutex);
  start_help = std::move(start);
}

}  // namespace warpalign::program
