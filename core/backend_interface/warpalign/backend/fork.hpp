// What a backend may not do in a process that was forked from the one that uses it.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace warpalign::backend {

#if defined(__unix__) || defined(__APPLE__)
/// The process that loaded this module.
inline const pid_t loading_process = getpid();

/// True in a process that was forked since the module was loaded. The driver's threads are not in
/// it, so a destructor that waits for the device, or for a thread, would wait for ever. Core
/// refuses everything else there.
[[nodiscard]] inline bool is_forked() noexcept { return getpid() != loading_process; }
#else
[[nodiscard]] inline bool is_forked() noexcept { return false; }
#endif

}  // namespace warpalign::backend
