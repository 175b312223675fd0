// Devices and forks.
//
// A driver has threads, locks and mappings that a forked child does not have, and work enqueued
// there would be waited for for ever. CUDA says so by an error; OpenCL drivers hang.
#include "device/fork.hpp"

#include <warpalign/error.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace warpalign::detail {

std::atomic<bool> forked_from_user{false};

void note_use_of_devices() {
#if defined(__unix__) || defined(__APPLE__)
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forked_from_user = true; });
  static_cast<void>(registered);
#endif
}

void refuse_after_fork() {
  throw Error(
      ErrorKind::device_unavailable,
      "this process was forked from one that had used devices, whose drivers work there only",
      {.stage = "fork",
       .advice = "start processes anew (exec; Python's multiprocessing by 'spawn'), or fork "
                 "before the first use of a device"});
}

}  // namespace warpalign::detail
