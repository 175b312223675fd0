// Reports the compilation of kernels, and starts helper processes if it is slow.
#include "commands/compilation_watch.hpp"

#include "io/messages.hpp"
#include "io/status_line.hpp"

#include <warpalign/compilation.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::size_t many = 4;  // programs; fewer are compiled before a helper has started

std::mutex slow_mutex;
std::function<void()> start_helpers;  // guarded by slow_mutex

void request_helpers(const CompilationProgress& progress) {
  if (!progress.one_at_a_time || progress.total - progress.compiled < many) return;
  std::function<void()> start;
  {
    const std::lock_guard lock(slow_mutex);
    start = std::exchange(start_helpers, nullptr);
  }
  if (start) start();
}

/// Temporarily replaces the status line by the progress of the compilation.
std::optional<StatusOverride> compiling;

void say(const CompilationProgress& progress) {
  if (progress.finished()) {
    compiling.reset();
    clear_status();
    detail(fmt::format("kernels for this device are compiled, {} in all", progress.total));
  } else {
    if (!compiling) compiling.emplace();
    draw_status(fmt::format("compiling kernels for this device, once: {} of {}",
                            progress.compiled + 1, progress.total));
  }
}

}  // namespace

CompilationWatch::CompilationWatch() {
  set_compilation_observer([](const CompilationProgress& progress) {
    request_helpers(progress);
    say(progress);
  });
}

CompilationWatch::~CompilationWatch() { set_compilation_observer({}); }

void CompilationWatch::set_slow_compilation_handler(std::function<void()> start) {
  const std::lock_guard lock(slow_mutex);
  start_helpers = std::move(start);
}

}  // namespace warpalign::program
