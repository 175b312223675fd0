// Gauss-Newton estimation of the similarity of one frame, from the sums that the device computes.
#pragma once

#include "registration/frames/even_illumination.hpp"
#include "registration/numerics/robust_scale.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// When a fit ends. Lengths are in pixels of the images that are compared.
struct FrameFitLimits {
  int evaluations = 16;      ///< at most
  double tolerance = 0.001;  ///< the fit ends after a step that moves no corner by more
  double max_drift = 1.5;    ///< of a corner from the start
};

/// The model is frame(p) = gain reference(m(p)) + offset for the frame's pixels p, where m is a
/// similarity, or a rigid transform for Motion::rigid.
class FrameFit {
 public:
  /// Frame and reference have this shape.
  FrameFit(const Shape& shape, Motion motion) : shape_(shape), motion_(motion) {}

  /// Starts a fit at a transform from the frame to the reference.
  void start(const Affine& frame_to_reference, const FrameFitLimits& limits);
  /// Ends the fit without a result.
  void fail() { active_ = converged_ = false; }

  /// Whether the fit needs another evaluation.
  [[nodiscard]] bool active() const { return active_; }
  /// Whether the last step was below the tolerance.
  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] const Affine& matrix() const { return matrix_; }
  /// The gain and the offset of the last evaluation.
  [[nodiscard]] double gain() const { return gain_; }
  [[nodiscard]] double offset() const { return offset_; }

  /// The state for the next evaluation of a cell, given the means of the images.
  [[nodiscard]] FrameState state(const FrameCell& cell, double frame_mean,
                                 double reference_mean) const;
  /// Makes a step from the sums of an evaluation over the whole frame.
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

/// The state for evaluating a cell at a transform from the frame to the reference, both of `shape`,
/// with gain and offset 0.
[[nodiscard]] FrameState frame_state_at(const Shape& shape, const FrameCell& cell,
                                        const Affine& frame_to_reference);

}  // namespace warpalign::detail
