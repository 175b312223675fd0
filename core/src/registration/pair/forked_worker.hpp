// A second thread that works on the same pair.
#pragma once

#include "registration/pair/pair_fork.hpp"
#include "registration/tasks/background_task.hpp"

#include <optional>
#include <utility>

namespace warpalign::detail {

/// Owns a fork of the pair and the state of its computation. A second thread is worth it because
/// the kernels of a search wait for one another and leave half of a GPU idle.
template <class State>
class ForkedWorker {
 public:
  template <class... Arguments>
  ForkedWorker(const Device& device, ThreadBudget* threads, Arguments&&... arguments)
      : fork_(device),
        state_(std::forward<Arguments>(arguments)...),
        task_(threads, [this] { run_job(); }) {}

  /// Sets the pair for the next calls of run().
  void begin_pair(const PairContext& pair) { context_.emplace(fork_.of(pair, pair.cancelled)); }
  [[nodiscard]] State& state() { return state_; }

  /// Calls job(context, state) on the worker's thread and own() on the calling thread, and returns
  /// when both are done. Runs them one after the other if no thread is available. Rethrows the
  /// exception of either. A job may return early if the context is cancelled.
  template <class Job, class Own>
  void run(const Job& job, const Own& own) {
    job_ = &job;
    call_ = [](const void* function, const PairContext& context, State& state) {
      (*static_cast<const Job*>(function))(context, state);
    };
    task_.begin();
    try {
      own();
    } catch (...) {
      task_.cancel();
      throw;
    }
    if (task_.has_begun()) {
      task_.wait();
    } else {
      run_job();
    }
  }

 private:
  void run_job() {
    call_(job_, *context_, state_);
    // Commands already enqueued still read the pair's images.
    if (context_->is_cancelled()) context_->stream.finish();
  }

  PairFork fork_;
  std::optional<PairContext> context_;
  State state_;
  const void* job_ = nullptr;
  void (*call_)(const void*, const PairContext&, State&) = nullptr;
  BackgroundTask task_;  // declared last: its thread uses the members above
};

}  // namespace warpalign::detail
