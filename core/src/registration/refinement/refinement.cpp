// The final refinement at full resolution.
#include "registration/refinement/refinement.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/refinement/noise_smoothing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpalign::detail {

namespace {

// The smallest sigma of the coarser image's Gaussian, in its pixels, that prevents aliasing. Noisy
// images need more.
constexpr double min_sigma = 1;
constexpr double max_margin = 1.0 / 8;  // fraction of the smaller side; a margin is four sigma

// The variance of the camera's point spread along an axis, in squared pixels: 1/12 for the box of a
// pixel, and as much again for the optics.
constexpr double pixel_variance = 1.0 / 6;

// A fit is astray if it increases the residual by more than this factor. Of 28 fits with more than
// the minimum smoothing, 24 had factors of at most 1.0006. The others moved corners by 1.7 pixels
// or more, and had factors of at least 1.0038.
constexpr double max_residual_ratio = 1.002;

// Sigmas are rounded to this step in pixels, which is fine enough to match the resolutions, and
// coarse enough to reuse plans.
constexpr double sigma_step = 1.0 / 16;

// The sigma for the finer image that gives both images the same point spread. In pixels of the
// finer image: scale^2 (sigma^2 + v) = fine_sigma^2 + v. Under strong perspective, the finer image
// may be the coarser one at the centre; then it is smoothed by the smallest step.
double matching_sigma(double coarse_sigma, double scale) {
  const double variance = scale * scale * (coarse_sigma * coarse_sigma + pixel_variance);
  const double sigma = std::sqrt(std::max(variance - pixel_variance, 0.0));
  return std::max(std::round(sigma / sigma_step), 1.0) * sigma_step;
}

// The cells of the illumination model grow with the smoothing.
int illumination_cell_under(double sigma) {
  return static_cast<int>(
      std::min<double>(min_illumination_cell * sigma / min_sigma, max_illumination_cell));
}

// Fine pixels per coarse pixel, at the coarse image's centre.
double scale_at(const Refinement::Work& work) {
  return scale_of(work.start.affine_at(centre_of(work.coarse.shape())));
}

// Fits with more parameters converge more slowly.
int max_iterations(Motion motion) { return is_projective(motion) ? 20 : 12; }

int margin_of(double sigma) { return static_cast<int>(std::ceil(4 * sigma)); }

}  // namespace

Refinement::Smoothed& Refinement::smoothed(const ImagePyramid& pyramid, double sigma,
                                           PlanCache<SmoothedKey, Smoothed>& kept) {
  const SmoothedKey key{pyramid.type(), pyramid.shape(), pyramid.mask() != nullptr, sigma};
  return kept.get(key, [&] {
    const SmoothSpec spec{.input = key.type,
                          .shape = key.shape,
                          .output = key.shape,
                          .origin = {},
                          .spacing = 1,
                          .sigma = sigma,
                          .masked = key.masked};
    Smoothed made{SmoothPlan(device_, spec), device_.make_image(PixelType::f32, key.shape),
                  std::nullopt};
    if (key.masked) made.weight.emplace(device_.make_image(PixelType::f32, key.shape));
    return made;
  });
}

Refinement::Spline& Refinement::spline_of(const Shape& shape) {
  return splines_.get(shape, [&] {
    return Spline{PrefilterPlan(device_, PrefilterSpec{.images = {.shape = shape}}),
                  device_.make_image(PixelType::f32, shape)};
  });
}

SimilarityFit::Pair Refinement::pair_of(const Work& work, double coarse_sigma) {
  const double fine_sigma = matching_sigma(coarse_sigma, scale_at(work));
  Smoothed& reference = smoothed(work.coarse, coarse_sigma, coarse_);
  Smoothed& moving = smoothed(work.fine, fine_sigma, fine_);
  Spline& spline = spline_of(work.fine.shape());
  if (smoothed_sigma_ != coarse_sigma) {
    work.clock.run("smooth", [&] {
      for (const auto& [image, images] :
           {std::pair(&work.coarse, &reference), std::pair(&work.fine, &moving)}) {
        image->smooth(work.stream, images->plan, images->values,
                      images->weight ? &*images->weight : nullptr);
      }
    });
    work.clock.run("prefilter",
                   [&] { spline.plan.execute(work.stream, moving.values, spline.coefficients); });
    smoothed_sigma_ = coarse_sigma;
  }
  const PairWeights weights =
      weights_of(work.stream, work.unit_weights, reference.weight ? &*reference.weight : nullptr,
                 work.coarse.shape(), moving.weight ? &*moving.weight : nullptr, work.fine.shape());
  return {{reference.values, spline.coefficients, weights.reference, weights.moving, nullptr},
          margin_of(coarse_sigma),
          margin_of(fine_sigma),
          std::nullopt,
          {work.coarse.num_unmasked(work.coarse.shape().plane()),
           work.fine.num_unmasked(work.fine.shape().plane())}};
}

PairStatistics Refinement::evaluate(const Work& work, SimilarityFit& fitter,
                                    const FitOptions& options, double sigma) {
  const double scale = scale_at(work);
  const SimilaritySumsResult sums = fitter.evaluate_under_illumination(
      work.stream, work.clock, pair_of(work, sigma), work.start, options);
  return pair_statistics(sums, residual_variance(sums), matching_sigma(sigma, scale), scale);
}

// Evaluates the pair under increasing smoothing until more smoothing does not help.
Refinement::Smoothing Refinement::smoothing_for(const Work& work, SimilarityFit& fitter,
                                                FitOptions options,
                                                const SimilaritySumsResult& at_start) {
  const double scale = scale_at(work);
  const double smaller =
      std::min(smaller_side(work.coarse.shape()), smaller_side(work.fine.shape()) / scale);
  const double max_sigma = max_margin * smaller / 4;
  if (2 * min_sigma > max_sigma) return {min_sigma, 0};
  if (!(at_start.pixels > 0) ||
      !may_be_noisy(pair_statistics(at_start, residual_under_global_illumination(at_start),
                                    matching_sigma(min_sigma, scale), scale))) {
    return {min_sigma, 0};
  }
  // Without an estimate of the noise, the illumination model absorbs part of it. These two
  // evaluations give a first estimate, with which they are repeated below.
  const PairStatistics sharp = evaluate(work, fitter, options, min_sigma);
  const PairStatistics smooth = evaluate(work, fitter, options, 2 * min_sigma);
  if (!(sharp.pixels > 0) || !(smooth.pixels > 0)) return {min_sigma, 0};
  const double noise = noise_variance(sharp, smooth);
  evaluations_.clear();
  for (double sigma = min_sigma; sigma <= max_sigma; sigma *= 2) {
    options.illumination_cell = illumination_cell_under(sigma);
    options.illumination_noise = noise_at_sigma(noise, min_sigma, sigma);
    evaluations_.push_back(evaluate(work, fitter, options, sigma));
    if (!(evaluations_.back().pixels > 0)) return {min_sigma, noise};
    if (best_smoothing(evaluations_) + 2 < evaluations_.size()) break;
  }
  const double sigma = min_sigma * std::exp2(best_smoothing(evaluations_));
  return {sigma,
          noise_at_sigma(noise_variance(evaluations_[0], evaluations_[1]), min_sigma, sigma)};
}

// Strong smoothing may leave little but shading, which the illumination model does not follow
// everywhere. A fit that follows the shading away from the correct pose increases the residual.
bool Refinement::is_astray(const Work& work, SimilarityFit& fitter, const FitOptions& options,
                           double sigma, const FitResult& fitted) {
  const auto residual_at = [&](const Homography& matrix) {
    return residual_variance(fitter.evaluate_under_illumination(
        work.stream, work.clock, pair_of(work, sigma), matrix, options));
  };
  return !(residual_at(fitted.matrix) <= max_residual_ratio * residual_at(work.start));
}

std::optional<FitResult> Refinement::fit(const Work& work, SimilarityFit& fitter,
                                         FitOptions options) {
  smoothed_sigma_ = 0;
  const SimilaritySumsResult at_start =
      fitter.evaluate(work.stream, work.clock, pair_of(work, min_sigma), work.start);
  const Smoothing smoothing = smoothing_for(work, fitter, options, at_start);
  const double max_drift = options.max_drift;
  for (double sigma = smoothing.sigma;; sigma /= 2) {
    options.illumination_cell = illumination_cell_under(sigma);
    options.illumination_noise = noise_at_sigma(smoothing.noise, smoothing.sigma, sigma);
    options.max_drift = max_drift * sigma / min_sigma;
    const bool is_min_sigma = sigma <= min_sigma;
    const auto fitted = fitter.fit(work.stream, work.clock, pair_of(work, sigma), work.start,
                                   options, is_min_sigma ? &at_start : nullptr);
    if (is_min_sigma || (fitted && !is_astray(work, fitter, options, sigma, *fitted)))
      return fitted;
  }
}

std::optional<Homography> Refinement::settle(const Work& work, SimilarityFit& fitter,
                                             Motion motion) {
  const auto fitted =
      fit(work, fitter, {motion, max_iterations(motion), 0.0005, 0.03, min_illumination_cell});
  if (!fitted || !is_stationary(*fitted)) return std::nullopt;
  return fitted->matrix;
}

}  // namespace warpalign::detail
