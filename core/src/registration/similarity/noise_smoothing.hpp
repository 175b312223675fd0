// How much a pair of registered images is to be smoothed before its last fit: what noise costs it.
#pragma once

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <span>

namespace warpalign::detail {

/// A pair as it looks when both images are smoothed by one point spread, near registration. All
/// pixels alike; lengths in the moving image's pixels.
struct NoiseSmoothing {
  double sigma = 1;     ///< of the moving image's Gaussian
  double scale = 1;     ///< moving pixels per reference pixel
  double pixels = 0;    ///< in common
  double residual = 0;  ///< variance of moving - (gain reference + offset)
  double slope = 0;     ///< mean square of the moving image's slope along an axis
};

[[nodiscard]] NoiseSmoothing noise_smoothing(const SimilaritySumsResult& sums, double residual,
                                             double sigma, double scale);

/// The variance that the gain and offset of the whole pictures leave at best.
[[nodiscard]] double residual_under_one_illumination(const SimilaritySumsResult& sums);
/// The variance of the sums' own residuals, from their mean absolute value.
[[nodiscard]] double residual_found(const SimilaritySumsResult& sums);

/// Whether the whole residual, were it all noise, would make up a part of the slopes that is worth
/// a closer look.
[[nodiscard]] bool may_be_noisy(const NoiseSmoothing& look);

/// The variance that white noise adds to the residual of the first of two looks, the second one
/// smoother. Light that was not modelled leaves as much residual in either: only what smoothing
/// takes away counts.
[[nodiscard]] double noise_of(const NoiseSmoothing& sharp, const NoiseSmoothing& smooth);

/// What noise of variance `noise` under `sigma` is under `other`.
[[nodiscard]] double noise_under(double noise, double sigma, double other);

/// The place in `looks` (of rising sigma, each about twice the one before) of the smoothing that
/// lets the fit be most certain. The last one only tells what the one before it is worth, so that
/// looks.size() - 1 is never the answer for more than one look.
///
/// White noise of density P in the difference leaves P / (4 pi sigma^2) of residual and
/// P / (8 pi sigma^4) of slope. A shift that minimises squares then varies by
/// (P S(sqrt(2) sigma) + N) / S(sigma)^2 a pixel, S the mean square of the slopes without noise,
/// for the estimate weighs the filtered noise with filtered slopes, and N = P^2 / (128 pi sigma^4)
/// what the noises of both images make of one another.
[[nodiscard]] std::size_t best_smoothing(std::span<const NoiseSmoothing> looks);

}  // namespace warpalign::detail
