// The backend's interface of the stage: missing samples are found and filled.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/fill_missing.hpp>

#include <cstdint>
#include <optional>

namespace warpalign::backend {

/// The equations of the samples that are smoothed.
struct HoleEquations {
  const Memory& links;      ///< u16: for each sample, its part in the equations
  const Memory& smoothed;   ///< u32: the samples that are smoothed
  const Memory& equations;  ///< u32: the samples at which the Laplacian counts
  std::int64_t num_smoothed = 0;
  std::int64_t num_equations = 0;
  Memory& residual;   ///< f32, for each sample
  Memory& direction;  ///< f32, for each sample
  Memory& steps;      ///< f32, in the order of `smoothed`
};

class FillMissing : public Stage {
 public:
  using Setup = FillMissingSpec;

  /// The state of a missing sample that is filled but not smoothed. Samples without a value have
  /// the state 0, known ones 1, and those of layer d the state d + 1.
  static constexpr int far_state = 255;

  /// How many floats enqueue_find() and enqueue_furthest() write, and half of those of
  /// enqueue_counts().
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
  /// Sets the links, the residual, and the direction to 0. `roles`: u8, for each sample.
  virtual void enqueue_equations(Queue& queue, const Memory& states, const Memory& values,
                                 Memory& roles, Memory& links, Memory& residual,
                                 Memory& direction) = 0;
  /// `counts`: the smoothed samples of each part, and then the equations of each.
  virtual void enqueue_counts(Queue& queue, const Memory& links, Memory& counts) = 0;
  /// `offsets`, u32: where the parts begin in the list of smoothed samples, and then in that of the
  /// equations.
  virtual void enqueue_lists(Queue& queue, const Memory& links, const Memory& offsets,
                             Memory& smoothed, Memory& equations) = 0;
  /// direction = momentum direction - rate gradient; the steps are its sum, and the residual
  /// follows. The momentum of the first iteration is 0.
  virtual void enqueue_iteration(Queue& queue, float momentum, float rate,
                                 const HoleEquations& of) = 0;
  virtual void enqueue_add(Queue& queue, const HoleEquations& of, Memory& values) = 0;
  virtual void enqueue_mark(Queue& queue, const MissingResults& how, float least, Memory& shares,
                            Memory& results) = 0;
};

}  // namespace warpalign::backend
