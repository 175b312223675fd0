// Gauss-Newton estimation of the parameters of a transform between two images.
#include "registration/similarity/similarity_fit.hpp"

#include "registration/correlation.hpp"
#include "registration/plane_geometry.hpp"
#include "registration/small_solver.hpp"
#include "registration/tukey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace warpalign::detail {

namespace {

constexpr double min_overlap_fraction = 0.02;  // of the smaller image
constexpr double illumination_sigma = 1.5;     // in cells
// The local gain is regularized towards the global one. The regularization dominates where the
// reference's local variance is below the sum of two terms: a fraction of its global variance, and
// a multiple of the variance of the noise, which would otherwise be taken for texture.
constexpr double regularization = 0.002;
constexpr double noise_regularization = 10;

constexpr std::size_t max_parameters = 8;               // of a homography
using Parameters = std::array<double, max_parameters>;  // in the order of SimilaritySumsResult

std::span<const std::size_t> free_parameters(Motion motion) {
  static constexpr std::array<std::size_t, max_parameters> all{0, 1, 2, 3, 4, 5, 6, 7};
  static constexpr std::array<std::size_t, 3> rigid{0, 1, 3};
  switch (motion) {
    case Motion::translation:
      return std::span(rigid).first(2);
    case Motion::rotation:
      return std::span(rigid).last(1);
    case Motion::rigid:
      return rigid;
    case Motion::affine:
      return std::span(all).first(6);
    case Motion::homography:
      return all;
    default:
      return std::span(all).first(4);
  }
}

// The solution of H delta = -b in the free parameters, and 0 in the others.
std::optional<Parameters> step_of(const SimilaritySumsResult& sums, Motion motion) {
  const std::span<const std::size_t> free = free_parameters(motion);
  const std::size_t n = free.size();
  std::array<double, max_parameters * max_parameters> h{};
  std::array<double, max_parameters> b{};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      h[i * n + j] = sums.hessian[sums.parameters * free[i] + free[j]];
    b[i] = -sums.gradient[free[i]];
  }
  if (!solve_symmetric(std::span(h).first(n * n), std::span(b).first(n))) return std::nullopt;
  Parameters delta{};
  for (std::size_t i = 0; i < n; ++i) delta[free[i]] = b[i];
  return delta;
}

bool is_projective(Motion motion) {
  return motion == Motion::affine || motion == Motion::homography;
}

// What the parameters of a homography are taken about, so that the part of the moving image in
// which the reference lies reaches from about -1 to 1: the normal equations are then well
// conditioned.
struct Frame {
  Point centre;
  double unit = 1;
};

Frame frame_of(const Homography& matrix, const Shape& reference, const Shape& moving) {
  const auto right = static_cast<double>(moving.width - 1);
  const auto bottom = static_cast<double>(moving.height - 1);
  Point low{right, bottom};
  Point high{0, 0};
  for (const double x : {0.0, static_cast<double>(reference.width - 1)}) {
    for (const double y : {0.0, static_cast<double>(reference.height - 1)}) {
      const Point q = matrix({x, y});
      low = {std::min(low.x, std::clamp(q.x, 0.0, right)),
             std::min(low.y, std::clamp(q.y, 0.0, bottom))};
      high = {std::max(high.x, std::clamp(q.x, 0.0, right)),
              std::max(high.y, std::clamp(q.y, 0.0, bottom))};
    }
  }
  // Whole numbers reach the device unrounded.
  return {{std::round((low.x + high.x) / 2), std::round((low.y + high.y) / 2)},
          std::max(1.0, std::round(std::max(high.x - low.x, high.y - low.y) / 2))};
}

// The parameters of a step as a homography of moving coordinates; see SimilaritySumsResult.
Homography update_of(const Parameters& d, const Frame& frame) {
  const double u = frame.unit;
  const Homography about_centre({1 + d[2] / u, d[3] / u, d[0],  //
                                 d[4] / u, 1 + d[5] / u, d[1],  //
                                 d[6] / (u * u), d[7] / (u * u), 1});
  return Homography(Affine::translation(frame.centre.x, frame.centre.y)) * about_centre *
         Affine::translation(-frame.centre.x, -frame.centre.y);
}

// The same of a similarity.
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

SimilarityState state_at(const Homography& matrix) {
  SimilarityState state;
  state.matrix = matrix;
  return state;
}

}  // namespace

double correlation_of(const SimilaritySumsResult& sums) {
  return correlation_of(Moments{sums.pixels, sums.reference, sums.moving, sums.reference_square,
                                sums.moving_square, sums.product});
}

double mean_square_slope(const SimilaritySumsResult& sums) {
  return (sums.hessian[0] + sums.hessian[sums.parameters + 1]) / (2 * sums.pixels);
}

double corner_distance(const Homography& a, const Homography& b, const Shape& shape) {
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

double common_distance(const Homography& a, const Homography& b, const Shape& shape,
                       const Shape& moving) {
  double squares = 0;
  double points = 0;
  for_each_grid_point(shape, [&](Point point) {
    const Point p = a(point);
    const Point q = b(point);
    if (!is_inside(q, moving)) return;
    squares += (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y);
    points += 1;
  });
  return points > 0 ? std::sqrt(squares / points) : corner_distance(a, b, shape);
}

SimilarityFit::Plans& SimilarityFit::plans_of(const Pair& pair, int illumination_cell,
                                              bool projective) {
  const SimilaritySumsSpec spec{pair.images.reference.shape(),
                                pair.images.coefficients.shape(),
                                pair.reference_margin,
                                pair.moving_margin,
                                pair.images.reference_weight != nullptr,
                                illumination_cell,
                                projective};
  return plans_.get(spec, [&] {
    Plans plans{SimilaritySumsPlan(device_, spec), std::nullopt, std::nullopt};
    if (illumination_cell > 0) {
      plans.illumination.emplace(
          device_, IlluminationSpec{spec.reference, spec.moving, spec.reference_margin,
                                    spec.moving_margin, spec.masked, illumination_cell,
                                    illumination_sigma * illumination_cell, projective});
      plans.field.emplace(device_.make_image(
          PixelType::c32, IlluminationPlan::field_shape(spec.reference, illumination_cell)));
    }
    return plans;
  });
}

SimilaritySumsResult SimilarityFit::evaluate(Stream& stream, StageClock& clock, const Pair& pair,
                                             const Homography& matrix) {
  const Plans& plans = plans_of(pair, 0, !matrix.is_affine());
  SimilaritySumsResult sums;
  clock.run("gauss_newton",
            [&] { sums = plans.sums.execute(stream, pair.images, state_at(matrix)); });
  return sums;
}

// Estimates the illumination model at `matrix` and stores it in the field of `plans`.
void SimilarityFit::estimate_illumination(Stream& stream, StageClock& clock, const Pair& pair,
                                          const Homography& matrix,
                                          const GlobalIllumination& global, double noise,
                                          Plans& plans) {
  const double strength = regularization * global.variance + noise_regularization * noise + 1e-12;
  clock.run("illumination", [&] {
    plans.illumination->execute(stream, pair.images, matrix,
                                {global.gain, global.reference, global.moving, strength},
                                *plans.field);
  });
}

SimilaritySumsResult SimilarityFit::evaluate_under_illumination(Stream& stream, StageClock& clock,
                                                                const Pair& pair,
                                                                const Homography& matrix,
                                                                const FitOptions& options) {
  SimilaritySumsResult sums = evaluate(stream, clock, pair, matrix);
  if (!(sums.pixels > 0)) return sums;
  Plans& plans = plans_of(pair, options.illumination_cell, !matrix.is_affine());
  estimate_illumination(stream, clock, pair, matrix, global_illumination(sums),
                        options.illumination_noise, plans);
  SimilarityImages images = pair.images;
  images.illumination = &*plans.field;
  clock.run("gauss_newton", [&] { sums = plans.sums.execute(stream, images, state_at(matrix)); });
  return sums;
}

std::optional<FitResult> SimilarityFit::fit(Stream& stream, StageClock& clock, const Pair& pair,
                                            const Homography& start, const FitOptions& options,
                                            const SimilaritySumsResult* known) {
  const Shape& reference = pair.images.reference.shape();
  const Shape& moving = pair.images.coefficients.shape();
  const double scale = scale_of(start.affine_at(centre_of(reference)));
  const double minimum = min_overlap_fraction * smaller_area(reference, moving, scale);
  // The corners of a reference that shows more of the scene lie far outside the moving image.
  const double extent = std::max(larger_side(moving), scale * larger_side(reference));
  const double max_drift = options.max_drift * extent;

  if (!is_regular(start, reference)) return std::nullopt;
  const SimilaritySumsResult at_start =
      known != nullptr ? *known : evaluate(stream, clock, pair, start);
  if (!(at_start.pixels >= minimum)) return std::nullopt;
  const GlobalIllumination global = global_illumination(at_start);
  const bool projective = is_projective(options.motion);
  Plans& plans = plans_of(pair, options.illumination_cell, projective);
  SimilarityImages images = pair.images;
  if (options.illumination_cell > 0) images.illumination = &*plans.field;

  SimilarityState state{start, global.gain, global.offset, 0, {}, 1};
  FitResult result{start, false, 0, correlation_of(at_start), at_start.pixels};
  bool illumination_is_final = false;
  for (int i = 0; i < options.iterations && !result.converged; ++i) {
    if (options.illumination_cell > 0 && !illumination_is_final) {
      estimate_illumination(stream, clock, pair, state.matrix, global, options.illumination_noise,
                            plans);
    }
    if (projective) {
      const Frame frame = frame_of(state.matrix, reference, moving);
      state.centre = frame.centre;
      state.unit = frame.unit;
    }
    SimilaritySumsResult sums;
    clock.run("gauss_newton", [&] { sums = plans.sums.execute(stream, images, state); });
    if (!(sums.pixels >= minimum)) return std::nullopt;
    const auto delta = step_of(sums, options.motion);
    if (!delta) return std::nullopt;
    const Homography update = projective ? update_of(*delta, {state.centre, state.unit})
                                         : Homography(update_of(*delta, moving));
    const Homography next = update * state.matrix;
    if (!is_regular(next, reference)) return std::nullopt;
    const auto distance = [&](const Homography& from) {
      return projective ? common_distance(next, from, reference, moving)
                        : corner_distance(next, from, reference);
    };
    const double moved = distance(state.matrix);
    if (!(distance(start) < max_drift)) return std::nullopt;
    // In the first iteration all pixels have equal weight; it only tells the residuals' size.
    result.converged = state.scale > 0 && moved < options.tolerance;
    result.last_move = moved;
    illumination_is_final = moved < 20 * options.tolerance;
    const GlobalIllumination illumination =
        options.illumination_cell > 0 ? global : global_illumination(sums);
    state.matrix = next;
    state.gain = illumination.gain;
    state.offset = illumination.offset;
    state.scale = tukey_constant * deviation_per_mean_absolute * sums.absolute / sums.pixels;
    result.correlation = correlation_of(sums);
    result.pixels = sums.pixels;
    result.matrix = next;
  }
  return result;
}

}  // namespace warpalign::detail
