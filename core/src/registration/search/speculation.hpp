// Work on a pair that may begin before it is known whether it is needed.
#pragma once

#include "registration/pair/pair_fork.hpp"
#include "registration/tasks/background_task.hpp"

#include <warpalign/device.hpp>

#include <functional>
#include <optional>

namespace warpalign::detail {

/// Runs a work in rounds, on a fork of the pair and, if begin() was called, on a thread of its own.
/// Only rounds that an earlier pair of the same shapes has needed begin early: their plans and
/// memory exist then, and a pair that turns out not to need them waits for neither.
class Speculation {
 public:
  using Round = std::function<void(const PairContext&, int round)>;

  /// `threads`: null: all rounds run on the caller's thread, stream and levels.
  Speculation(const Device& device, ThreadBudget* threads, Round round);

  /// Begins the rounds that pairs like this one have needed. The images may not change until end().
  void begin(const PairContext& pair);
  /// Waits for the rounds up to `round`, or runs them.
  void finish(const PairContext& pair, int round);
  /// Whether what was begun goes on, so that finish() would wait.
  [[nodiscard]] bool is_running() const { return task_.is_running(); }
  /// Ends the work on a pair. What was begun and is not needed is cancelled.
  void end() noexcept;

 private:
  /// What the memory of a search depends on.
  struct Shapes {
    Shape reference, moving;
    bool reference_masked, moving_masked;
    friend bool operator==(const Shapes&, const Shapes&) = default;
  };
  void note(const PairContext& pair);
  const PairContext& fork(const PairContext& pair, const std::atomic<bool>* cancelled);
  void run_early();

  Device device_;
  ThreadBudget* threads_;
  Round round_;
  int done_ = 0, needed_ = 0;     // rounds: of this pair, and of pairs of these shapes
  std::optional<Shapes> shapes_;  // for which needed_ holds
  std::optional<PairContext> pair_;
  std::optional<PairFork> fork_;
  std::optional<PairContext> context_;
  BackgroundTask task_;  // whose thread uses the others, and is ended first
};

}  // namespace warpalign::detail
