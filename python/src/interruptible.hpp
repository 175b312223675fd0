// Runs work of the library, so that Ctrl-C ends it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <utility>

namespace warpalign::python {

/// Ends work after Ctrl-C. run_interruptibly() throws KeyboardInterrupt instead.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Runs `work` on a thread of its own, without the GIL, and waits for it on the calling thread,
/// which is the only one that receives Ctrl-C. Ctrl-C sets `go_on` to false, upon which the work
/// must end, and throws KeyboardInterrupt after that.
template <typename Work>
void run_interruptibly(std::atomic<bool>& go_on, Work&& work) {
  const nanobind::gil_scoped_release released;
  std::future<void> done = std::async(std::launch::async, std::forward<Work>(work));
  bool interrupted = false;
  while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const nanobind::gil_scoped_acquire acquired;
    if (!interrupted && PyErr_CheckSignals() != 0) {
      interrupted = true;
      go_on = false;
    }
  }
  if (!interrupted) return done.get();
  const nanobind::gil_scoped_acquire acquired;
  throw nanobind::python_error();
}

}  // namespace warpalign::python
