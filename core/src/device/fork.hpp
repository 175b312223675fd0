// Detection of a forked process: no driver works in a process that was forked after using it.
#pragma once

#include <atomic>

namespace warpalign::detail {

/// True in a process that was forked, without exec, from one that had loaded a backend.
extern std::atomic<bool> process_is_forked;

/// Call this before the first use of a backend. Any thread may call it again.
void register_fork_handler();

/// Throws Error(device_unavailable).
[[noreturn]] void refuse_after_fork();

inline void check_not_forked() {
  if (process_is_forked.load(std::memory_order_relaxed)) refuse_after_fork();
}

}  // namespace warpalign::detail
