// Work on a pair that may begin before it is known to be needed.
#pragma once

#include "registration/pair/pair_fork.hpp"
#include "registration/tasks/background_task.hpp"

#include <warpalign/device.hpp>

#include <functional>
#include <optional>

namespace warpalign::detail {

/// Runs rounds of work on a fork of the pair, on a background thread after begin(). Only rounds
/// that an earlier pair of the same shapes needed begin early: their plans and memory already
/// exist, so a pair that does not need them does not wait for either.
class Speculation {
 public:
  using Round = std::function<void(const PairContext&, int round)>;

  /// If `threads` is null, all rounds run on the caller's thread, stream and levels.
  Speculation(const Device& device, ThreadBudget* threads, Round round);

  /// Begins the rounds that earlier pairs of these shapes needed. The images must not change until
  /// end().
  void begin(const PairContext& pair);
  /// Waits for all rounds up to `round`, and runs those that have not begun.
  void finish(const PairContext& pair, int round);
  /// Whether a background round is still running, so that finish() would wait.
  [[nodiscard]] bool is_running() const { return task_.is_running(); }
  /// Ends the work on a pair and cancels rounds that are not needed.
  void end() noexcept;

 private:
  /// The properties that the memory of a search depends on.
  struct Shapes {
    Shape reference, moving;
    bool reference_masked, moving_masked;
    friend bool operator==(const Shapes&, const Shapes&) = default;
  };
  void update_shapes(const PairContext& pair);
  const PairContext& fork(const PairContext& pair, const std::atomic<bool>* cancelled);
  void run_early();

  Device device_;
  ThreadBudget* threads_;
  Round round_;
  int done_ = 0, needed_ = 0;     // rounds of this pair; rounds needed by pairs of these shapes
  std::optional<Shapes> shapes_;  // the shapes for which needed_ holds
  std::optional<PairContext> pair_;
  std::optional<PairFork> fork_;
  std::optional<PairContext> context_;
  BackgroundTask task_;  // declared last: its thread uses the members above
};

}  // namespace warpalign::detail
