// Detection of a forked process, in which a backend must not use its driver.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace warpalign::backend {

#if defined(__unix__) || defined(__APPLE__)
/// The process that loaded this module.
inline const pid_t loading_process = getpid();

/// True in a process that was forked after the module was loaded. The driver's threads do not exist
/// in it, so a destructor that waits for the device, or for a thread, would hang. Core throws for
/// every other use of the device there.
[[nodiscard]] inline bool is_forked() noexcept { return getpid() != loading_process; }
#else
[[nodiscard]] inline bool is_forked() noexcept { return false; }
#endif

}  // namespace warpalign::backend
