// A task on its own thread.
#pragma once

#include "registration/tasks/thread_budget.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace warpalign::detail {

/// Runs one function repeatedly on its own thread. The thread waits between runs, so that begin()
/// allocates nothing. Not thread-safe: one thread controls the task.
class BackgroundTask {
 public:
  /// `threads` provides the thread and must outlive the task. Null: the task gets no thread.
  BackgroundTask(ThreadBudget* threads, std::function<void()> work)
      : threads_(threads), work_(std::move(work)) {}
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask();

  /// Starts the thread if the budget allows it, so that begin() allocates nothing.
  void prepare();
  /// Begins a run if a thread is available. The previous run must have been waited for or
  /// cancelled.
  void begin();
  /// Whether a run has begun and wait() or cancel() has not been called since.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Whether that run is still executing.
  [[nodiscard]] bool is_running() const { return has_begun_ && state_ == State::running; }
  /// Waits for the run and rethrows its exception.
  void wait();
  /// Asks the run to stop, and waits until it has. Discards its exception: if the device has
  /// failed, the next call reports it.
  void cancel() noexcept;
  /// True while the run should stop.
  [[nodiscard]] const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  enum class State { idle, running, ending };
  void worker_loop() noexcept;
  void await_idle() noexcept;

  ThreadBudget* threads_;
  std::function<void()> work_;
  std::atomic<State> state_{State::idle};
  std::atomic<bool> cancelled_{false};
  bool has_begun_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace warpalign::detail
