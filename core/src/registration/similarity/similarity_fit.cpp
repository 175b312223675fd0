// Gauss-Newton estimation of the four parameters of a similarity between two images.
#include "registration/similarity/similarity_fit.hpp"

#include "registration/correlation.hpp"
#include "registration/plane_geometry.hpp"
#include "registration/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace warpalign::detail {

namespace {

// Tukey's constant for 95 % efficiency.
constexpr double tukey_constant = 4.685;

constexpr double min_overlap_fraction = 0.02;  // of the smaller image
constexpr double illumination_sigma = 1.5;     // in cells
// The local gain is regularized towards the global one. The regularization dominates where the
// reference's local variance is below the sum of two terms: a fraction of its global variance, and
// a multiple of the variance of the noise, which would otherwise be taken for texture.
constexpr double regularization = 0.002;
constexpr double noise_regularization = 10;

using Parameters = std::array<double, 4>;  // in the order of SimilaritySumsResult

std::span<const std::size_t> free_parameters(Motion motion) {
  static constexpr std::array<std::size_t, 4> all{0, 1, 2, 3};
  static constexpr std::array<std::size_t, 3> rigid{0, 1, 3};
  switch (motion) {
    case Motion::translation:
      return std::span(rigid).first(2);
    case Motion::rotation:
      return std::span(rigid).last(1);
    case Motion::rigid:
      return rigid;
    default:
      return all;
  }
}

// The solution of H delta = -b in the free parameters, and 0 in the others.
std::optional<Parameters> step_of(const SimilaritySumsResult& sums, Motion motion) {
  const std::span<const std::size_t> free = free_parameters(motion);
  const std::size_t n = free.size();
  std::array<double, max_unknowns * max_unknowns> h{};
  std::array<double, max_unknowns> b{};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) h[i * n + j] = sums.hessian[4 * free[i] + free[j]];
    b[i] = -sums.gradient[free[i]];
  }
  if (!solve_symmetric(std::span(h).first(n * n), std::span(b).first(n))) return std::nullopt;
  Parameters delta{};
  for (std::size_t i = 0; i < n; ++i) delta[free[i]] = b[i];
  return delta;
}

// The parameters of a step as a transform of moving coordinates; see SimilaritySumsResult.
Affine update_of(const Parameters& delta, const Shape& moving) {
  const double scale = std::exp(delta[2]);
  const double cosine = scale * std::cos(delta[3]);
  const double sine = scale * std::sin(delta[3]);
  const Point c = centre_of(moving);
  return Affine::translation(c.x + delta[0], c.y + delta[1]) *
         Affine{cosine, sine, 0, -sine, cosine, 0} * Affine::translation(-c.x, -c.y);
}

// The gain and offset of the whole images. The gain is the ratio of their contrasts: a least
// squares gain would be too small where the reference is noisy, and uneven illumination can even
// reverse its sign.
GlobalIllumination global_illumination(const SimilaritySumsResult& sums) {
  const double n = sums.pixels;
  GlobalIllumination illumination;
  illumination.reference = sums.reference / n;
  illumination.moving = sums.moving / n;
  illumination.variance =
      std::max(sums.reference_square / n - illumination.reference * illumination.reference, 0.0);
  const double moving_variance =
      std::max(sums.moving_square / n - illumination.moving * illumination.moving, 0.0);
  illumination.gain =
      illumination.variance > 0 ? std::sqrt(moving_variance / illumination.variance) : 1;
  illumination.offset = illumination.moving - illumination.gain * illumination.reference;
  return illumination;
}

}  // namespace

double correlation_of(const SimilaritySumsResult& sums) {
  return correlation_of(Moments{sums.pixels, sums.reference, sums.moving, sums.reference_square,
                                sums.moving_square, sums.product});
}

double corner_distance(const Affine& a, const Affine& b, const Shape& shape) {
  double maximum = 0;
  for (const double x : {0.0, static_cast<double>(shape.width - 1)}) {
    for (const double y : {0.0, static_cast<double>(shape.height - 1)}) {
      const Point p = a({x, y});
      const Point q = b({x, y});
      maximum = std::max(maximum, std::hypot(p.x - q.x, p.y - q.y));
    }
  }
  return maximum;
}

SimilarityFit::Plans& SimilarityFit::plans_of(const Pair& pair, int illumination_cell) {
  const SimilaritySumsSpec spec{pair.images.reference.shape(),
                                pair.images.coefficients.shape(),
                                pair.reference_margin,
                                pair.moving_margin,
                                pair.images.reference_weight != nullptr,
                                illumination_cell};
  return plans_.get(spec, [&] {
    Plans plans{SimilaritySumsPlan(device_, spec), std::nullopt, std::nullopt};
    if (illumination_cell > 0) {
      plans.illumination.emplace(
          device_,
          IlluminationSpec{spec.reference, spec.moving, spec.reference_margin, spec.moving_margin,
                           spec.masked, illumination_cell, illumination_sigma * illumination_cell});
      plans.field.emplace(device_.make_image(
          PixelType::c32, IlluminationPlan::field_shape(spec.reference, illumination_cell)));
    }
    return plans;
  });
}

SimilaritySumsResult SimilarityFit::evaluate(Stream& stream, StageClock& clock, const Pair& pair,
                                             const Affine& matrix) {
  const Plans& plans = plans_of(pair, 0);
  SimilaritySumsResult sums;
  clock.run("gauss_newton",
            [&] { sums = plans.sums.execute(stream, pair.images, {.matrix = matrix}); });
  return sums;
}

// Estimates the illumination model at `matrix` and stores it in the field of `plans`.
void SimilarityFit::estimate_illumination(Stream& stream, StageClock& clock, const Pair& pair,
                                          const Affine& matrix, const GlobalIllumination& global,
                                          double noise, Plans& plans) {
  const double strength = regularization * global.variance + noise_regularization * noise + 1e-12;
  clock.run("illumination", [&] {
    plans.illumination->execute(stream, pair.images, matrix,
                                {global.gain, global.reference, global.moving, strength},
                                *plans.field);
  });
}

SimilaritySumsResult SimilarityFit::evaluate_under_illumination(Stream& stream, StageClock& clock,
                                                                const Pair& pair,
                                                                const Affine& matrix,
                                                                const FitOptions& options) {
  SimilaritySumsResult sums = evaluate(stream, clock, pair, matrix);
  if (!(sums.pixels > 0)) return sums;
  Plans& plans = plans_of(pair, options.illumination_cell);
  estimate_illumination(stream, clock, pair, matrix, global_illumination(sums),
                        options.illumination_noise, plans);
  SimilarityImages images = pair.images;
  images.illumination = &*plans.field;
  clock.run("gauss_newton", [&] { sums = plans.sums.execute(stream, images, {.matrix = matrix}); });
  return sums;
}

std::optional<FitResult> SimilarityFit::fit(Stream& stream, StageClock& clock, const Pair& pair,
                                            const Affine& start, const FitOptions& options,
                                            const SimilaritySumsResult* known) {
  const Shape& reference = pair.images.reference.shape();
  const Shape& moving = pair.images.coefficients.shape();
  const double minimum = min_overlap_fraction * smaller_area(reference, moving, scale_of(start));
  // The corners of a reference that shows more of the scene lie far outside the moving image.
  const double extent = std::max(larger_side(moving), scale_of(start) * larger_side(reference));
  const double max_drift = options.max_drift * extent;

  const SimilaritySumsResult at_start =
      known != nullptr ? *known : evaluate(stream, clock, pair, start);
  if (!(at_start.pixels >= minimum)) return std::nullopt;
  const GlobalIllumination global = global_illumination(at_start);
  Plans& plans = plans_of(pair, options.illumination_cell);
  SimilarityImages images = pair.images;
  if (options.illumination_cell > 0) images.illumination = &*plans.field;

  SimilarityState state{start, global.gain, global.offset, 0};
  FitResult result{start, false, 0, correlation_of(at_start), at_start.pixels};
  bool illumination_is_final = false;
  for (int i = 0; i < options.iterations && !result.converged; ++i) {
    if (options.illumination_cell > 0 && !illumination_is_final) {
      estimate_illumination(stream, clock, pair, state.matrix, global, options.illumination_noise,
                            plans);
    }
    SimilaritySumsResult sums;
    clock.run("gauss_newton", [&] { sums = plans.sums.execute(stream, images, state); });
    if (!(sums.pixels >= minimum)) return std::nullopt;
    const auto delta = step_of(sums, options.motion);
    if (!delta) return std::nullopt;
    const Affine next = update_of(*delta, moving) * state.matrix;
    const double moved = corner_distance(next, state.matrix, reference);
    if (!(corner_distance(next, start, reference) < max_drift)) return std::nullopt;
    // In the first iteration all pixels have equal weight; it only tells the residuals' size.
    result.converged = state.scale > 0 && moved < options.tolerance;
    result.last_move = moved;
    illumination_is_final = moved < 20 * options.tolerance;
    const GlobalIllumination illumination =
        options.illumination_cell > 0 ? global : global_illumination(sums);
    state = {next, illumination.gain, illumination.offset,
             tukey_constant * deviation_per_mean_absolute * sums.absolute / sums.pixels};
    result.correlation = correlation_of(sums);
    result.pixels = sums.pixels;
    result.matrix = next;
  }
  return result;
}

}  // namespace warpalign::detail
