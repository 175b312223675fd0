// Detection of a forked process.
//
// A driver has threads, locks and mappings that a forked child does not have. Waiting for work that
// was enqueued in the child would never end: CUDA reports an error, OpenCL drivers hang.
#include "device/fork.hpp"

#include <warpalign/error.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace warpalign::detail {

std::atomic<bool> process_is_forked{false};

void register_fork_handler() {
#if defined(__unix__) || defined(__APPLE__)
  static const int registered = pthread_atfork(nullptr, nullptr, [] { process_is_forked = true; });
  static_cast<void>(registered);
#endif
}

void refuse_after_fork() {
  throw Error(
      ErrorKind::device_unavailable,
      "this process was forked from one that had used a device; drivers do not work after a fork",
      {.stage = "fork",
       .advice = "start new processes instead (exec; 'spawn' in Python's multiprocessing), or fork "
                 "before the first use of a device"});
}

}  // namespace warpalign::detail
