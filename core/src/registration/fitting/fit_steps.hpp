// The steps of one Gauss-Newton fit, from sums to state to sums: what is decided on the host, apart
// from where the sums come from.
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

/// Its gain is the ratio of the contrasts.
[[nodiscard]] GlobalIllumination global_illumination(const SimilaritySumsResult& sums);

/// Whether a fit of this motion estimates the parameters of a homography, all or the first six.
[[nodiscard]] bool is_projective(Motion motion);

/// Whether a fit came to rest, even if not to its tolerance. One whose last step still moved a
/// corner by a good part of a pixel is drifting away from where it began.
[[nodiscard]] bool is_at_rest(const FitResult& fitted);

/// The sums of two channels as those of one image: of moments about the means of each, so that the
/// joint means are 0. A pixel counts once.
[[nodiscard]] SimilaritySumsResult joined(const SimilaritySumsResult& first,
                                          const SimilaritySumsResult& second);

class FitSteps {
 public:
  /// A fit between images of these shapes, `start` being reference pixels -> moving pixels.
  FitSteps(const Shape& reference, const Shape& moving, const CountedPixels& counted,
           const Homography& start, const FitOptions& options);

  /// Whether sums are needed: at the start for begin(), and then, at state(), for advance().
  [[nodiscard]] bool goes_on() const { return fit_.goes_on != 0; }
  /// Of the first channel or of the second one, whose offset differs.
  [[nodiscard]] SimilarityState state(std::size_t channel = 0) const;
  [[nodiscard]] const GlobalIllumination& global() const { return global_; }
  /// Whether the next step should estimate the local illumination model again.
  [[nodiscard]] bool estimates_illumination() const;

  /// `sums`: at the start, with equal weight for all pixels. `second`: those of a second channel.
  void begin(const SimilaritySumsResult& sums, const SimilaritySumsResult* second = nullptr);
  /// One step. `sums`: at state(); `second`: at state(1).
  void advance(const SimilaritySumsResult& sums, const SimilaritySumsResult* second = nullptr);

  /// Where the fit stands, its transforms about the images' centres.
  [[nodiscard]] const WaFit& fit() const { return fit_; }
  /// Takes what became of fit() elsewhere, in single precision.
  void take(const WaFit& fit);

  /// Nothing where the images have too little in common, the fit diverged, or its homography maps a
  /// point of the reference to infinity.
  [[nodiscard]] const std::optional<FitResult>& result() const { return result_; }

 private:
  void note_result();
  [[nodiscard]] double distance(const double* a, const double* b) const;

  Shape reference_, moving_;
  FitOptions options_;
  Homography matrix_;  ///< of the state, in pixels
  GlobalIllumination global_;
  WaFit fit_{};
  std::optional<FitResult> result_;
};

}  // namespace warpalign::detail
