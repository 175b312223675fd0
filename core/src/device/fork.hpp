// Devices and forks: no driver works in a process that was forked from one that had used it.
#pragma once

#include <atomic>

namespace warpalign::detail {

/// True in a process that was forked, without exec, from one that had loaded a backend.
extern std::atomic<bool> forked_from_user;

/// To be called before a backend is used for the first time; any thread may call it again.
void note_use_of_devices();

/// Throws Error(device_unavailable).
[[noreturn]] void refuse_after_fork();

inline void check_not_forked() {
  if (forked_from_user.load(std::memory_order_relaxed)) refuse_after_fork();
}

}  // namespace warpalign::detail
