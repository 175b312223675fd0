// Waits for work of the library, so that Ctrl-C ends it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>

namespace warpalign::python {

/// Waits for the work on the calling thread, which is the only one that receives Ctrl-C and must
/// not hold the GIL. Ctrl-C sets `go_on` to false, upon which the work must end, and throws
/// KeyboardInterrupt after that.
inline void wait_for(std::future<void>& work, std::atomic<bool>& go_on) {
  bool interrupted = false;
  while (work.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const nanobind::gil_scoped_acquire acquired;
    if (!interrupted && PyErr_CheckSignals() != 0) {
      interrupted = true;
      go_on = false;
    }
  }
  if (!interrupted) return work.get();
  const nanobind::gil_scoped_acquire acquired;
  throw nanobind::python_error();
}

}  // namespace warpalign::python
