// Gauss-Newton estimation of the parameters of a transform between two images.
#include "registration/similarity/similarity_fit.hpp"

#include "registration/correlation.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// How many fits share a call. More would gain little: a step of each takes as long as it does.
constexpr std::size_t fits_at_once = 32;
constexpr double illumination_sigma = 1.5;  // in cells
// The local gain is regularized towards the global one. The regularization dominates where the
// reference's local variance is below the sum of two terms: a fraction of its global variance, and
// a multiple of the variance of the noise, which would otherwise be taken for texture.
constexpr double regularization = 0.002;
constexpr double noise_regularization = 10;

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

SimilarityFit::Plans& SimilarityFit::plans_of(const Pair& pair, int illumination_cell,
                                              bool projective) {
  const SimilaritySumsSpec spec{pair.images.reference.shape(),
                                pair.images.coefficients.shape(),
                                pair.reference_margin,
                                pair.moving_margin,
                                pair.images.reference_weight != nullptr,
                                illumination_cell,
                                projective,
                                illumination_cell > 0 ? 1 : fits_at_once};
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
  clock.run("gauss_newton", [&] {
    sums = plans.sums.execute(stream, pair.images, state_at(matrix));
    if (pair.second) {
      sums = joined(sums, plans.sums.execute(stream, *pair.second, state_at(matrix)));
    }
  });
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
  if (pair.second) return fit_together(stream, clock, pair, {&start, 1}, options)[0].result();
  FitSteps steps(pair.images.reference.shape(), pair.images.coefficients.shape(), pair.counted,
                 start, options);
  if (!steps.goes_on()) return std::nullopt;
  steps.begin(known != nullptr ? *known : evaluate(stream, clock, pair, start));
  if (!steps.goes_on()) return steps.result();
  Plans& plans = plans_of(pair, options.illumination_cell, is_projective(options.motion));
  SimilarityImages images = pair.images;
  if (options.illumination_cell > 0) images.illumination = &*plans.field;
  while (steps.goes_on()) {
    if (options.illumination_cell > 0 && steps.estimates_illumination()) {
      estimate_illumination(stream, clock, pair, steps.state().matrix, steps.global(),
                            options.illumination_noise, plans);
    }
    SimilaritySumsResult sums;
    clock.run("gauss_newton", [&] { sums = plans.sums.execute(stream, images, steps.state()); });
    steps.advance(sums);
  }
  return steps.result();
}

void SimilarityFit::execute(Stream& stream, StageClock& clock, const SimilaritySumsPlan& plan,
                            const SimilarityImages& images,
                            std::vector<SimilaritySumsResult>& sums) {
  sums.resize(states_.size());
  for (std::size_t first = 0; first < states_.size(); first += fits_at_once) {
    const std::size_t count = std::min(fits_at_once, states_.size() - first);
    clock.run("gauss_newton", [&] {
      plan.execute(stream, images, std::span<const SimilarityState>(states_).subspan(first, count),
                   std::span(sums).subspan(first, count));
    });
  }
}

void SimilarityFit::evaluate_channels(Stream& stream, StageClock& clock, const Pair& pair,
                                      std::span<const Homography> matrices) {
  const bool affine = std::all_of(matrices.begin(), matrices.end(),
                                  [](const Homography& matrix) { return matrix.is_affine(); });
  const SimilaritySumsPlan& plan = plans_of(pair, 0, !affine).sums;
  states_.clear();
  for (const Homography& matrix : matrices) states_.push_back(state_at(matrix));
  execute(stream, clock, plan, pair.images, sums_);
  if (pair.second) execute(stream, clock, plan, *pair.second, second_sums_);
}

std::span<const SimilaritySumsResult> SimilarityFit::evaluate_together(
    Stream& stream, StageClock& clock, const Pair& pair, std::span<const Homography> matrices) {
  evaluate_channels(stream, clock, pair, matrices);
  if (pair.second) {
    std::transform(sums_.begin(), sums_.end(), second_sums_.begin(), sums_.begin(), joined);
  }
  return sums_;
}

// The sums of each channel, at the state that the fit has for it.
void SimilarityFit::take_step(Stream& stream, StageClock& clock, const Pair& pair,
                              const SimilaritySumsPlan& plan) {
  const auto at_states = [&](std::size_t channel, const SimilarityImages& images,
                             std::vector<SimilaritySumsResult>& sums) {
    states_.clear();
    for (const FitSteps* fit : going_on_) states_.push_back(fit->state(channel));
    execute(stream, clock, plan, images, sums);
  };
  at_states(0, pair.images, sums_);
  if (pair.second) at_states(1, *pair.second, second_sums_);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    going_on_[i]->advance(sums_[i], pair.second ? &second_sums_[i] : nullptr);
  }
}

std::span<const FitSteps> SimilarityFit::fit_together(Stream& stream, StageClock& clock,
                                                      const Pair& pair,
                                                      std::span<const Homography> starts,
                                                      const FitOptions& options) {
  fits_.clear();
  for (const Homography& start : starts) {
    fits_.emplace_back(pair.images.reference.shape(), pair.images.coefficients.shape(),
                       pair.counted, start, options);
  }
  going_on_.clear();
  starts_.clear();
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    if (!fits_[i].goes_on()) continue;
    going_on_.push_back(&fits_[i]);
    starts_.push_back(starts[i]);
  }
  evaluate_channels(stream, clock, pair, starts_);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    going_on_[i]->begin(sums_[i], pair.second ? &second_sums_[i] : nullptr);
  }
  const SimilaritySumsPlan& plan = plans_of(pair, 0, is_projective(options.motion)).sums;
  for (;;) {
    std::erase_if(going_on_, [](const FitSteps* fit) { return !fit->goes_on(); });
    if (going_on_.empty()) return fits_;
    take_step(stream, clock, pair, plan);
  }
}

}  // namespace warpalign::detail
