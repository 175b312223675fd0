// The host part of one Gauss-Newton fit: computes the next state from the sums of the last one. The
// caller provides the sums.
#pragma once

#include "formulas/fit_steps.h"
#include "registration/fitting/fit_options.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <cstddef>
#include <optional>

namespace warpalign::detail {

/// One gain and offset for the whole images, and the statistics that they are computed from.
struct GlobalIllumination {
  double gain = 1, offset = 0, reference = 0, moving = 0, variance = 0;
};

/// The global illumination for these sums. The gain is the ratio of the standard deviations.
[[nodiscard]] GlobalIllumination global_illumination(const SimilaritySumsResult& sums);

/// Whether a fit of this motion estimates all parameters of a homography, or the first six.
[[nodiscard]] bool is_projective(Motion motion);

/// Whether the last step of a fit was small (0.2 pixels), even if above the tolerance. A fit with a
/// larger last step is drifting away from its start.
[[nodiscard]] bool is_stationary(const FitResult& fitted);

/// Combines the sums of two channels as if they were one image. The moments are taken about the
/// mean of each channel, so the joint means are 0. Each pixel counts once.
[[nodiscard]] SimilaritySumsResult joined(const SimilaritySumsResult& first,
                                          const SimilaritySumsResult& second);

class FitSteps {
 public:
  /// A fit between images of these shapes. `start`: reference pixels -> moving pixels.
  FitSteps(const Shape& reference, const Shape& moving, const UnmaskedPixels& counted,
           const Homography& start, const FitOptions& options);

  /// Whether the fit needs more sums: at the start for begin(), then at state() for advance().
  [[nodiscard]] bool in_progress() const { return fit_.in_progress != 0; }
  /// The state for the sums of a channel. The channels differ in their offsets.
  [[nodiscard]] SimilarityState state(std::size_t channel = 0) const;
  [[nodiscard]] const GlobalIllumination& global() const { return global_; }
  /// Whether the next step should estimate the local illumination model again.
  [[nodiscard]] bool estimates_illumination() const;

  /// `sums`: at the start, with unit weights. `second`: the sums of the second channel, if any.
  void begin(const SimilaritySumsResult& sums, const SimilaritySumsResult* second = nullptr);
  /// Makes a step. `sums`: at state(); `second`: at state(1).
  void advance(const SimilaritySumsResult& sums, const SimilaritySumsResult* second = nullptr);

  /// The state of the fit, with transforms relative to the images' centres.
  [[nodiscard]] const WaFit& fit() const { return fit_; }
  /// Replaces the state by one that the device has computed from fit(), in single precision.
  void take(const WaFit& fit);

  /// Nothing if the overlap is too small, the fit diverged, or its homography maps a point of the
  /// reference to infinity.
  [[nodiscard]] const std::optional<FitResult>& result() const { return result_; }

 private:
  void update_result();
  [[nodiscard]] double distance(const double* a, const double* b) const;

  Shape reference_, moving_;
  FitOptions options_;
  Homography matrix_;  ///< of the state, in pixels
  GlobalIllumination global_;
  WaFit fit_{};
  std::optional<FitResult> result_;
};

}  // namespace warpalign::detail
