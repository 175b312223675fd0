// The steps of one Gauss-Newton fit.
#include "registration/similarity/fit_steps.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/base_scales.hpp"
#include "registration/similarity/similarity_fit.hpp"
#include "registration/small_solver.hpp"
#include "registration/transform_distance.hpp"
#include "registration/tukey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace warpalign::detail {

namespace {

constexpr double min_overlap_fraction = 0.02;  // of the smaller image
constexpr double max_last_step = 0.2;          // in moving pixels, of a fit that came to rest

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

}  // namespace

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

bool is_projective(Motion motion) {
  return motion == Motion::affine || motion == Motion::homography;
}

bool is_at_rest(const FitResult& fitted) { return !(fitted.last_move > max_last_step); }

SimilaritySumsResult joined(const SimilaritySumsResult& first, const SimilaritySumsResult& second) {
  SimilaritySumsResult all = first;
  for (std::size_t i = 0; i < all.hessian.size(); ++i) all.hessian[i] += second.hessian[i];
  for (std::size_t i = 0; i < all.gradient.size(); ++i) all.gradient[i] += second.gradient[i];
  all.weight += second.weight;
  all.absolute = (first.absolute + second.absolute) / 2;
  all.reference = all.moving = 0;
  all.reference_square = all.moving_square = all.product = 0;
  for (const SimilaritySumsResult* sums : {&first, &second}) {
    const double pixels = std::max(sums->pixels, 1.0);
    all.reference_square += sums->reference_square - sums->reference * sums->reference / pixels;
    all.moving_square += sums->moving_square - sums->moving * sums->moving / pixels;
    all.product += sums->product - sums->reference * sums->moving / pixels;
  }
  return all;
}

FitSteps::FitSteps(const Shape& reference, const Shape& moving, const CountedPixels& counted,
                   const Homography& start, const FitOptions& options)
    : reference_(reference), moving_(moving), options_(options), start_(start) {
  const double scale = scale_of(start.affine_at(centre_of(reference)));
  min_pixels_ = min_overlap_fraction * counted.smaller_area(scale);
  // The corners of a reference that shows more of the scene lie far outside the moving image.
  max_drift_ = options.max_drift * std::max(larger_side(moving), scale * larger_side(reference));
  goes_on_ = is_regular(start, reference);
}

void FitSteps::fail() {
  goes_on_ = false;
  result_.reset();
}

SimilarityState FitSteps::state(std::size_t channel) const {
  SimilarityState state = state_;
  if (channel == 1) state.offset = second_offset_;
  return state;
}

// The channels' means differ, and so do their offsets.
void FitSteps::set_offsets(const SimilaritySumsResult& first, const SimilaritySumsResult* second) {
  if (second == nullptr) return;
  const auto offset = [&](const SimilaritySumsResult& sums) {
    return (sums.moving - state_.gain * sums.reference) / std::max(sums.pixels, 1.0);
  };
  state_.offset = offset(first);
  second_offset_ = offset(*second);
}

void FitSteps::begin(const SimilaritySumsResult& sums, const SimilaritySumsResult* second) {
  const SimilaritySumsResult all = second != nullptr ? joined(sums, *second) : sums;
  if (!(all.pixels >= min_pixels_)) return fail();
  global_ = global_illumination(all);
  state_ = {start_, global_.gain, global_.offset, 0, {}, 1};
  set_offsets(sums, second);
  result_ = FitResult{start_, false, 0, correlation_of(all), all.pixels};
  goes_on_ = options_.iterations > 0;
  if (is_projective(options_.motion)) set_frame();
}

void FitSteps::advance(const SimilaritySumsResult& sums, const SimilaritySumsResult* second) {
  take(second != nullptr ? joined(sums, *second) : sums);
  if (result_) set_offsets(sums, second);
}

void FitSteps::set_frame() {
  const Frame frame = frame_of(state_.matrix, reference_, moving_);
  state_.centre = frame.centre;
  state_.unit = frame.unit;
}

double FitSteps::distance(const Homography& a, const Homography& b) const {
  return is_projective(options_.motion) ? common_distance(a, b, reference_, moving_)
                                        : corner_distance(a, b, reference_);
}

// One step, by the sums of all channels.
void FitSteps::take(const SimilaritySumsResult& sums) {
  if (!(sums.pixels >= min_pixels_)) return fail();
  const auto delta = step_of(sums, options_.motion);
  if (!delta) return fail();
  const bool projective = is_projective(options_.motion);
  const Homography update = projective ? update_of(*delta, {state_.centre, state_.unit})
                                       : Homography(update_of(*delta, moving_));
  const Homography next = update * state_.matrix;
  if (!is_regular(next, reference_)) return fail();
  const double moved = distance(next, state_.matrix);
  if (!(distance(next, start_) < max_drift_)) return fail();
  // In the first iteration all pixels have equal weight; it only tells the residuals' size.
  const bool converged = state_.scale > 0 && moved < options_.tolerance;
  result_ = FitResult{next, converged, moved, correlation_of(sums), sums.pixels};
  illumination_is_final_ = moved < 20 * options_.tolerance;
  const GlobalIllumination illumination =
      options_.illumination_cell > 0 ? global_ : global_illumination(sums);
  state_.matrix = next;
  state_.gain = illumination.gain;
  state_.offset = illumination.offset;
  state_.scale = tukey_constant * deviation_per_mean_absolute * sums.absolute / sums.pixels;
  goes_on_ = !converged && ++iteration_ < options_.iterations;
  if (goes_on_ && projective) set_frame();
}

}  // namespace warpalign::detail
