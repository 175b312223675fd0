// The backend's interface of the stage: missing samples are found and filled.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/fill_missing.hpp>

#include <cstdint>
#include <optional>

namespace warpalign::backend {

/// The memory of the samples that are smoothed.
struct SmoothingMemory {
  Memory& roles;  ///< u8: what a sample is to the equations
  Memory& links;  ///< u16: the same, and which of its neighbours' equations it belongs to
  Memory& residual;
  Memory& direction;
  Memory& step;
};

class FillMissing : public Stage {
 public:
  using Setup = FillMissingSpec;

  /// The state of a missing sample that is filled but not smoothed. Samples without a value have
  /// the state 0, known ones 1, and those of layer d the state d + 1.
  static constexpr int far_state = 255;

  /// How many floats enqueue_find() and enqueue_furthest() write.
  [[nodiscard]] virtual std::int64_t parts() const noexcept = 0;
  /// `counts`: the missing samples of each part.
  virtual void enqueue_find(Queue& queue, const Memory& values, std::optional<float> nodata,
                            Memory& known, Memory& counts) = 0;
  /// Fills the samples beside those that have a value.
  virtual void enqueue_layer(Queue& queue, int layer, const Memory& from, Memory& to,
                             Memory& values) = 0;
  /// `furthest`: the greatest state of each part, far_state if a sample has no value.
  virtual void enqueue_furthest(Queue& queue, const Memory& states, Memory& furthest) = 0;
  /// `nearest`: the index of each sample that has a value, -1 for the others.
  virtual void enqueue_start_nearest(Queue& queue, const Memory& states, Memory& nearest) = 0;
  virtual void enqueue_step_nearest(Queue& queue, int step, const Memory& from, Memory& to) = 0;
  virtual void enqueue_copy_nearest(Queue& queue, const Memory& nearest, Memory& values,
                                    Memory& states) = 0;
  virtual void enqueue_equations(Queue& queue, const Memory& states, const Memory& values,
                                 const SmoothingMemory& memory) = 0;
  /// direction = momentum direction - rate gradient; the step is its sum, and the residual follows.
  virtual void enqueue_iteration(Queue& queue, float momentum, float rate,
                                 const SmoothingMemory& memory) = 0;
  virtual void enqueue_add(Queue& queue, const SmoothingMemory& memory, Memory& values) = 0;
  virtual void enqueue_mark(Queue& queue, const MissingResults& how, float least, Memory& shares,
                            Memory& results) = 0;
};

}  // namespace warpalign::backend
