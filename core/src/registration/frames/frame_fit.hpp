// Gauss-Newton estimation of the similarity of one frame, from the sums that the device computes.
#pragma once

#include "registration/frames/lighting.hpp"
#include "registration/numerics/robust_scale.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// When a fit ends. Lengths are in pixels of the images that are compared.
struct FrameFitLimits {
  int evaluations = 16;      ///< at most
  double tolerance = 0.001;  ///< a step that moves no corner by more is the last
  double max_drift = 1.5;    ///< of a corner from the start
};

/// The model is frame(p) = gain reference(m(p)) + offset over the frame's pixels p, with m a
/// similarity, or a rotation and shift for Motion::rigid.
class FrameFit {
 public:
  /// Frame and reference are of this shape.
  FrameFit(const Shape& shape, Motion motion) : shape_(shape), motion_(motion) {}

  /// Begins at a transform from the frame to the reference.
  void start(const Affine& frame_to_reference, const FrameFitLimits& limits);
  /// Gives up.
  void fail() { active_ = converged_ = false; }

  /// Whether it needs another evaluation.
  [[nodiscard]] bool active() const { return active_; }
  /// Whether the last step was as small as it must be.
  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] const Affine& matrix() const { return matrix_; }
  /// Of the last evaluation.
  [[nodiscard]] double gain() const { return gain_; }
  [[nodiscard]] double offset() const { return offset_; }

  /// Where the next evaluation of a cell takes place, where the images' means are these.
  [[nodiscard]] FrameState state(const FrameCell& cell, double frame_mean,
                                 double reference_mean) const;
  /// Takes the sums of an evaluation of the whole frame, and makes a step.
  void take(const FrameSums& sums);

 private:
  void step(const FrameSums& sums);

  static constexpr int last_scale_update = 6;

  Shape shape_;
  Motion motion_;
  FrameFitLimits limits_;
  Affine start_, matrix_;
  double gain_ = 0, offset_ = 0, residual_variance_ = 0;
  RobustScale scale_{last_scale_update};
  bool active_ = false, converged_ = false;
};

/// The state at which a cell is evaluated under a transform from the frame to the reference, of
/// this shape both: with no gain and no offset.
[[nodiscard]] FrameState frame_state_at(const Shape& shape, const FrameCell& cell,
                                        const Affine& frame_to_reference);

}  // namespace warpalign::detail
