// The host part of one Gauss-Newton fit. The formulas are in formulas/fit_steps.h.
#include "registration/fitting/fit_steps.hpp"

#include "registration/fitting/centred_transform.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/robust_scale.hpp"
#include "registration/numerics/small_solver.hpp"
#include "registration/numerics/transform_distance.hpp"

#include <algorithm>
#include <array>

namespace warpalign::detail {

namespace {

constexpr double min_overlap_fraction = 0.02;  // of the smaller image
constexpr double max_last_step = 0.2;          // moving pixels; see is_stationary()
// The illumination model is kept once a step moves no corner by more than this many tolerances.
constexpr double last_illumination = 20;

// The free parameters, with a bit for each parameter of SimilaritySumsResult.
int free_parameters(Motion motion) {
  switch (motion) {
    case Motion::translation:
      return 0b11;
    case Motion::rotation:
      return 0b1000;
    case Motion::rigid:
      return 0b1011;
    case Motion::affine:
      return 0b111111;
    case Motion::homography:
      return 0b11111111;
    default:
      return 0b1111;
  }
}

WaMoments moments_of(const SimilaritySumsResult& sums) {
  return {sums.pixels,           sums.absolute,      sums.reference, sums.moving,
          sums.reference_square, sums.moving_square, sums.product};
}

// The moments of one channel or two.
struct Channels {
  std::array<WaMoments, 2> moments;
  int count;

  Channels(const SimilaritySumsResult& first, const SimilaritySumsResult* second)
      : moments{moments_of(first), moments_of(second != nullptr ? *second : first)},
        count(second != nullptr ? 2 : 1) {}
};

// Adds the normal equations of the second channel, if there is one, to those of the first.
template <std::size_t size>
std::array<double, size> sum_of(const std::array<double, size>& first,
                                const std::array<double, size>* second) {
  std::array<double, size> all = first;
  if (second == nullptr) return all;
  for (std::size_t i = 0; i < size; ++i) all[i] += (*second)[i];
  return all;
}

}  // namespace

GlobalIllumination global_illumination(const SimilaritySumsResult& sums) {
  const WaMoments moments = moments_of(sums);
  const double n = sums.pixels;
  GlobalIllumination illumination;
  illumination.gain = wa_gain(&moments);
  illumination.offset = wa_offset(&moments, illumination.gain);
  illumination.reference = sums.reference / n;
  illumination.moving = sums.moving / n;
  illumination.variance =
      std::max(sums.reference_square / n - illumination.reference * illumination.reference, 0.0);
  return illumination;
}

bool is_projective(Motion motion) {
  return motion == Motion::affine || motion == Motion::homography;
}

bool is_stationary(const FitResult& fitted) { return !(fitted.last_move > max_last_step); }

SimilaritySumsResult joined(const SimilaritySumsResult& first, const SimilaritySumsResult& second) {
  const WaMoments a = moments_of(first);
  const WaMoments b = moments_of(second);
  const WaMoments moments = wa_joined(&a, &b);
  SimilaritySumsResult all = first;
  all.hessian = sum_of(first.hessian, &second.hessian);
  all.gradient = sum_of(first.gradient, &second.gradient);
  all.weight += second.weight;
  all.absolute = moments.absolute;
  all.reference = moments.reference;
  all.moving = moments.moving;
  all.reference_square = moments.reference_square;
  all.moving_square = moments.moving_square;
  all.product = moments.product;
  return all;
}

FitSteps::FitSteps(const Shape& reference, const Shape& moving, const UnmaskedPixels& counted,
                   const Homography& start, const FitOptions& options)
    : reference_(reference), moving_(moving), options_(options), matrix_(start) {
  const double scale = scale_of(start.affine_at(centre_of(reference)));
  fit_.reference_x = centre_of(reference).x;
  fit_.reference_y = centre_of(reference).y;
  fit_.moving_x = centre_of(moving).x;
  fit_.moving_y = centre_of(moving).y;
  std::copy_n(about_centres(start, reference, moving).h.begin(), 9, fit_.start);
  std::copy_n(fit_.start, 9, fit_.matrix);
  fit_.min_pixels = min_overlap_fraction * counted.smaller_area(scale);
  // If the reference shows more of the scene, its corners lie far outside the moving image, so the
  // drift is relative to the larger of both images.
  fit_.max_drift =
      options.max_drift * std::max(larger_side(moving), scale * larger_side(reference));
  fit_.tolerance = options.tolerance;
  fit_.min_pivot = min_pivot;
  fit_.scale_of_mean = scale_per_mean_absolute;
  fit_.free_parameters = free_parameters(options.motion);
  fit_.iterations = options.iterations;
  fit_.fixed_illumination = options.illumination_cell > 0 ? 1 : 0;
  fit_.gain = fit_.unit = 1;
  fit_.in_progress = is_regular(start, reference) ? 1 : 0;
}

SimilarityState FitSteps::state(std::size_t channel) const {
  SimilarityState state{matrix_, fit_.gain, channel == 1 ? fit_.second_offset : fit_.offset,
                        fit_.scale};
  state.centre = {fit_.centre_x + fit_.moving_x, fit_.centre_y + fit_.moving_y};
  state.unit = fit_.unit;
  return state;
}

bool FitSteps::estimates_illumination() const {
  return fit_.iteration == 0 || !(fit_.last_move < last_illumination * options_.tolerance);
}

void FitSteps::begin(const SimilaritySumsResult& sums, const SimilaritySumsResult* second) {
  const Channels channels(sums, second);
  wa_fit_begin(&fit_, channels.moments.data(), channels.count, is_projective(options_.motion));
  global_ = global_illumination(second != nullptr ? joined(sums, *second) : sums);
  update_result();
}

void FitSteps::advance(const SimilaritySumsResult& sums, const SimilaritySumsResult* second) {
  auto hessian = sum_of(sums.hessian, second != nullptr ? &second->hessian : nullptr);
  auto gradient = sum_of(sums.gradient, second != nullptr ? &second->gradient : nullptr);
  std::array<double, 9> next{};
  if (wa_fit_step(&fit_, sums.pixels, hessian.data(), gradient.data(),
                  static_cast<int>(sums.parameters), next.data()) == 0) {
    wa_fit_fail(&fit_);
  } else {
    const Channels channels(sums, second);
    wa_fit_update(&fit_, channels.moments.data(), channels.count, next.data(),
                  distance(next.data(), fit_.matrix), distance(next.data(), fit_.start),
                  is_projective(options_.motion));
    matrix_ = in_pixels(fit_.matrix, reference_, moving_);
  }
  update_result();
}

void FitSteps::update_result() {
  result_.reset();
  if (fit_.found == 0) return;
  result_ = FitResult{matrix_, fit_.converged != 0, fit_.last_move, fit_.correlation, fit_.pixels};
}

void FitSteps::take(const WaFit& fit) {
  fit_ = fit;
  if (fit_.found != 0 && fit_.iteration > 0) {
    matrix_ = project_onto_motion(matrix_, in_pixels(fit_.matrix, reference_, moving_),
                                  options_.motion, reference_);
  }
  update_result();
}

double FitSteps::distance(const double* a, const double* b) const {
  return is_projective(options_.motion)
             ? common_distance(in_pixels(a, reference_, moving_), in_pixels(b, reference_, moving_),
                               reference_, moving_)
             : wa_corner_distance(a, b, fit_.reference_x, fit_.reference_y);
}

}  // namespace warpalign::detail
