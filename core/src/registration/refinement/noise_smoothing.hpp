// Chooses the smoothing of a nearly registered pair for the final refinement, by its effect on the
// accuracy under noise.
#pragma once

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <span>

namespace warpalign::detail {

/// Statistics of a nearly registered pair whose images are smoothed to the same point spread, with
/// unit weights. Lengths are in pixels of the moving image.
struct PairStatistics {
  double sigma = 1;     ///< of the moving image's Gaussian
  double scale = 1;     ///< moving pixels per reference pixel
  double pixels = 0;    ///< number of pixels in the overlap
  double residual = 0;  ///< variance of moving - (gain reference + offset)
  double slope = 0;     ///< mean square of the moving image's slope along an axis
};

[[nodiscard]] PairStatistics pair_statistics(const SimilaritySumsResult& sums, double residual,
                                             double sigma, double scale);

/// The smallest residual variance that one gain and offset for the whole images can leave.
[[nodiscard]] double residual_under_global_illumination(const SimilaritySumsResult& sums);
/// The variance of the residuals in `sums`, estimated from their mean absolute value.
[[nodiscard]] double residual_variance(const SimilaritySumsResult& sums);

/// Whether noise may cause a notable part of the slopes, so that a closer evaluation is worth its
/// time. The whole residual counts as noise here.
[[nodiscard]] bool may_be_noisy(const PairStatistics& statistics);

/// The variance that white noise adds to the residual of `sharp`. `smooth` evaluates the same pair
/// under more smoothing. Unmodelled illumination leaves the same residual in both, so the noise is
/// estimated from the part of the residual that smoothing removes.
[[nodiscard]] double noise_variance(const PairStatistics& sharp, const PairStatistics& smooth);

/// The variance of noise under smoothing by `other`, if it is `noise` under smoothing by `sigma`.
[[nodiscard]] double noise_at_sigma(double noise, double sigma, double other);

/// The index in `evaluations` of the smoothing with the smallest variance of the estimated shift.
/// The evaluations are in order of increasing sigma, which about doubles each time. The last
/// evaluation serves only to rate the one before it, so the function never returns its index if
/// there are more than one.
///
/// White noise of density P in the difference of the images adds P / (4 pi sigma^2) to the
/// residual and P / (8 pi sigma^4) to the mean squared slope. The variance of a least squares
/// estimate of the shift, times the number of pixels, is then
/// (P S(sqrt(2) sigma) + N) / S(sigma)^2. S is the mean square of the slopes without noise; it
/// enters at sqrt(2) sigma because the estimate weights filtered noise with filtered slopes.
/// N = P^2 / (128 pi sigma^4) comes from the product of the two images' noise.
[[nodiscard]] std::size_t best_smoothing(std::span<const PairStatistics> evaluations);

}  // namespace warpalign::detail
