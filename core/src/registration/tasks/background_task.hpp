// Work on a thread of its own.
#pragma once

#include "registration/tasks/thread_budget.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace warpalign::detail {

/// Runs one function again and again on a thread of its own. The thread waits between two runs, so
/// that begin() allocates nothing. Used by one thread at a time.
class BackgroundTask {
 public:
  /// `threads`: from which the thread is taken; it outlives the task. Null: there is no thread.
  BackgroundTask(ThreadBudget* threads, std::function<void()> work)
      : threads_(threads), work_(std::move(work)) {}
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask();

  /// Starts the thread, if one is to be had, so that begin() allocates nothing.
  void prepare();
  /// Begins a run, if a thread is to be had. The run before has been waited for or cancelled.
  void begin();
  /// Whether a run has begun that nobody has waited for yet.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Whether the run that has begun goes on.
  [[nodiscard]] bool is_running() const { return has_begun_ && state_ == State::running; }
  /// Waits for the run that has begun. Throws what it has thrown.
  void wait();
  /// Asks the run that has begun to stop, and waits until it has. Discards what it has thrown: if
  /// the device has failed, the next call reports that.
  void cancel() noexcept;
  /// Set while the run is asked to stop.
  [[nodiscard]] const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  enum class State { idle, running, ending };
  void loop() noexcept;
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
