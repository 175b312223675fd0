// Gauss-Newton estimation of the parameters of a transform between two images: up to four of a
// similarity, six of an affine transform, or eight of a homography.
#pragma once

#include "registration/plan_cache.hpp"
#include "registration/similarity/base_scales.hpp"
#include "registration/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/registrar.hpp>

#include <optional>

namespace warpalign::detail {

/// The standard deviation of normally distributed residuals divided by their mean absolute value,
/// sqrt(pi / 2).
inline constexpr double deviation_per_mean_absolute = 1.2533;

/// The smallest cell of the illumination model in use, and the largest that IlluminationPlan takes.
inline constexpr int min_illumination_cell = 8;
inline constexpr int max_illumination_cell = 64;

/// When a fit ends, and which illumination model it uses.
struct FitOptions {
  Motion motion = Motion::similarity;  ///< any but automatic
  int iterations = 10;                 ///< at most
  double tolerance = 0.001;  ///< a step that moves no corner by more, in moving pixels, is the last
  double max_drift = 0.03;   ///< of a corner from the start, as a fraction of the larger side
  int illumination_cell = 0;  ///< side in reference pixels of the cells over which gain and offset
                              ///< vary; 0: one gain and offset for the whole image
  double illumination_noise = 0;  ///< with cells: the variance that noise adds to the images
};

struct FitResult {
  Homography matrix;
  bool converged = false;
  double last_move = 0;    ///< largest move of a corner in the last step, in moving pixels
  double correlation = 0;  ///< normalized, over the pixels in common at the start of the last step
  double pixels = 0;       ///< number of these pixels
};

/// One gain and offset for the whole images, and the statistics that they are computed from.
struct GlobalIllumination {
  double gain = 1, offset = 0, reference = 0, moving = 0, variance = 0;
};

/// Fits pairs of images; keeps plans and memory for their shapes between calls.
class SimilarityFit {
 public:
  explicit SimilarityFit(const Device& device) : device_(device) {}

  /// The images of a fit, with margins as in SimilaritySumsSpec.
  struct Pair {
    SimilarityImages images;
    int reference_margin = 0;
    int moving_margin = 1;
  };

  /// `known`: the result of evaluate() at `start`, if it is known already. Returns nothing where
  /// the images have too little in common, the fit diverges, or its homography maps a point of the
  /// reference to infinity. Waits for the device.
  std::optional<FitResult> fit(Stream& stream, StageClock& clock, const Pair& pair,
                               const Homography& start, const FitOptions& options,
                               const SimilaritySumsResult* known = nullptr);

  /// The sums at `matrix`, with equal weight for all pixels; those for a homography unless it is
  /// affine. Waits for the device.
  SimilaritySumsResult evaluate(Stream& stream, StageClock& clock, const Pair& pair,
                                const Homography& matrix);

  /// The same under the local illumination model of `options`.
  SimilaritySumsResult evaluate_under_illumination(Stream& stream, StageClock& clock,
                                                   const Pair& pair, const Homography& matrix,
                                                   const FitOptions& options);

 private:
  struct Plans {
    SimilaritySumsPlan sums;
    std::optional<IlluminationPlan> illumination;
    std::optional<Image> field;
  };
  Plans& plans_of(const Pair& pair, int illumination_cell, bool projective);
  void estimate_illumination(Stream& stream, StageClock& clock, const Pair& pair,
                             const Homography& matrix, const GlobalIllumination& global,
                             double noise, Plans& plans);

  Device device_;
  PlanCache<SimilaritySumsSpec, Plans> plans_{max_searched_levels};
};

/// The normalized correlation of the pixels in the sums; 0 where either image does not vary.
[[nodiscard]] double correlation_of(const SimilaritySumsResult& sums);

/// The mean square of the moving image's slope along an axis, where all pixels have equal weight.
[[nodiscard]] double mean_square_slope(const SimilaritySumsResult& sums);

/// The largest distance between the positions to which two transforms map the corners of `shape`.
[[nodiscard]] double corner_distance(const Homography& a, const Homography& b, const Shape& shape);

/// The root mean square distance over that part of `shape` that `b` maps into `moving`, and
/// corner_distance() where there is none. What a homography does outside of the part in common, and
/// where there is no texture at its edges, says nothing about the fit.
[[nodiscard]] double common_distance(const Homography& a, const Homography& b, const Shape& shape,
                                     const Shape& moving);

}  // namespace warpalign::detail
