// Gauss-Newton estimation of the parameters of a transform between two images.
#include "registration/fitting/similarity_fit.hpp"

#include "registration/numerics/correlation.hpp"
#include "stages/results.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// The number of fits in one launch. With more, the launch itself no longer dominates.
constexpr std::size_t fits_at_once = 32;
constexpr double illumination_sigma = 1.5;  // in cells
// The local gain is regularized towards the global gain. The regularization dominates where the
// reference's local variance is below the sum of two terms: a fraction of its global variance, and
// a multiple of the noise variance. Without the second term, the model would fit noise as texture.
constexpr double regularization = 0.002;
constexpr double noise_regularization = 10;

SimilarityState state_at(const Homography& matrix) {
  SimilarityState state;
  state.matrix = matrix;
  return state;
}

}  // namespace

SimilarityFit::SimilarityFit(const Device& device)
    : SimilarityFit(device, prefers_resident_fits(device)) {}
SimilarityFit::SimilarityFit(const Device& device, bool resident) : device_(device) {
  if (resident) resident_.emplace(device);
}
SimilarityFit::~SimilarityFit() = default;

double correlation_of(const SimilaritySumsResult& sums) {
  return correlation_of(Moments{sums.pixels, sums.reference, sums.moving, sums.reference_square,
                                sums.moving_square, sums.product});
}

double mean_square_slope(const SimilaritySumsResult& sums) {
  return (sums.hessian[0] + sums.hessian[sums.parameters + 1]) / (2 * sums.pixels);
}

SimilarityFit::Plans& SimilarityFit::plans_of(const Pair& pair, int illumination_cell,
                                              bool projective) {
  SimilaritySumsSpec spec = pair.sums(projective, illumination_cell > 0 ? 1 : fits_at_once);
  spec.illumination_cell = illumination_cell;
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
  if (pair.second) {
    const Group one{&pair, {&start, 1}};
    return fit_together(stream, clock, {&one, 1}, options)[0].result();
  }
  FitSteps steps(pair.images.reference.shape(), pair.images.coefficients.shape(), pair.counted,
                 start, options);
  if (!steps.in_progress()) return std::nullopt;
  steps.begin(known != nullptr ? *known : evaluate(stream, clock, pair, start));
  if (!steps.in_progress()) return steps.result();
  Plans& plans = plans_of(pair, options.illumination_cell, is_projective(options.motion));
  SimilarityImages images = pair.images;
  if (options.illumination_cell > 0) images.illumination = &*plans.field;
  while (steps.in_progress()) {
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

void SimilarityFit::begin_requests() {
  requests_.clear();
  states_.clear();
  requested_ = 0;
}

void SimilarityFit::request(const SimilaritySumsPlan& plan, const SimilarityImages& images) {
  while (requested_ < states_.size()) {
    const std::size_t count = std::min(fits_at_once, states_.size() - requested_);
    requests_.push_back({&plan, &images, count});
    requested_ += count;
  }
}

void SimilarityFit::request_at(const Pair& pair, std::span<const Homography> matrices) {
  const bool affine = std::all_of(matrices.begin(), matrices.end(),
                                  [](const Homography& matrix) { return matrix.is_affine(); });
  const SimilaritySumsPlan& plan = plans_of(pair, 0, !affine).sums;
  const auto request_channel = [&](const SimilarityImages& images) {
    for (const Homography& matrix : matrices) states_.push_back(state_at(matrix));
    request(plan, images);
  };
  request_channel(pair.images);
  if (pair.second) request_channel(*pair.second);
}

void SimilarityFit::compute_requests(Stream& stream, StageClock& clock) {
  sums_.resize(states_.size());
  std::size_t numbers = 0;
  for (const Request& pending : requests_)
    numbers += pending.states * pending.plan->partial_count();
  if (numbers == 0) return;
  make_room(partials_, device_, numbers);
  clock.run("gauss_newton", [&] {
    std::size_t state = 0;
    std::size_t number = 0;
    for (const Request& pending : requests_) {
      pending.plan->enqueue(
          stream, *pending.images,
          std::span<const SimilarityState>(states_).subspan(state, pending.states), *partials_,
          number);
      state += pending.states;
      number += pending.states * pending.plan->partial_count();
    }
  });
  std::span<const float> partials = partials_->fetch(stream, numbers);
  std::span<SimilaritySumsResult> results(sums_);
  for (const Request& pending : requests_) {
    pending.plan->add_up(partials, results.first(pending.states));
    partials = partials.subspan(pending.states * pending.plan->partial_count());
    results = results.subspan(pending.states);
  }
}

std::span<const SimilaritySumsResult> SimilarityFit::evaluate_together(
    Stream& stream, StageClock& clock, std::span<const Group> groups) {
  begin_requests();
  for (const Group& group : groups) request_at(*group.pair, group.matrices);
  compute_requests(stream, clock);
  // The sums of a second channel follow those of the first.
  std::size_t from = 0;
  std::size_t to = 0;
  for (const Group& group : groups) {
    const std::size_t count = group.matrices.size();
    for (std::size_t i = 0; i < count; ++i) {
      const SimilaritySumsResult& first = sums_[from + i];
      sums_[to++] = group.pair->second ? joined(first, sums_[from + count + i]) : first;
    }
    from += group.pair->second ? 2 * count : count;
  }
  return std::span(sums_).first(to);
}

template <class Use>
void SimilarityFit::for_each_running(Use use) {
  const SimilaritySumsResult* sums = sums_.data();
  for (const Running& group : running_) {
    const std::size_t count = group.fits.size();
    if (count == 0) continue;
    const SimilaritySumsResult* second = group.pair->second ? sums + count : nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      use(*group.fits[i], sums[i], second != nullptr ? second + i : nullptr);
    }
    sums += second != nullptr ? 2 * count : count;
  }
}

void SimilarityFit::set_fits(std::span<const Group> starts, const FitOptions& options) {
  fits_.clear();
  for (const Group& group : starts) {
    const SimilarityImages& images = group.pair->images;
    for (const Homography& start : group.matrices) {
      fits_.emplace_back(images.reference.shape(), images.coefficients.shape(), group.pair->counted,
                         start, options);
    }
  }
}

void SimilarityFit::begin_fits(Stream& stream, StageClock& clock, std::span<const Group> starts) {
  if (running_.size() < starts.size()) running_.resize(starts.size());
  for (Running& group : running_) group.fits.clear();  // keeps their memory
  begin_requests();
  auto fit = fits_.begin();
  for (std::size_t g = 0; g < starts.size(); ++g) {
    running_[g].pair = starts[g].pair;
    starts_.clear();
    for (const Homography& start : starts[g].matrices) {
      if (fit->in_progress()) {
        running_[g].fits.push_back(&*fit);
        starts_.push_back(start);
      }
      ++fit;
    }
    if (!starts_.empty()) request_at(*starts[g].pair, starts_);
  }
  compute_requests(stream, clock);
  for_each_running([](FitSteps& begun, const SimilaritySumsResult& sums,
                      const SimilaritySumsResult* second) { begun.begin(sums, second); });
}

// Computes the sums of each channel at the fits' states, and advances the fits.
void SimilarityFit::take_step(Stream& stream, StageClock& clock, bool projective) {
  begin_requests();
  for (const Running& group : running_) {
    if (group.fits.empty()) continue;
    const SimilaritySumsPlan& plan = plans_of(*group.pair, 0, projective).sums;
    const auto request_channel = [&](std::size_t channel, const SimilarityImages& images) {
      for (const FitSteps* fit : group.fits) states_.push_back(fit->state(channel));
      request(plan, images);
    };
    request_channel(0, group.pair->images);
    if (group.pair->second) request_channel(1, *group.pair->second);
  }
  compute_requests(stream, clock);
  for_each_running([](FitSteps& fit, const SimilaritySumsResult& sums,
                      const SimilaritySumsResult* second) { fit.advance(sums, second); });
}

std::span<const FitSteps> SimilarityFit::fit_together(Stream& stream, StageClock& clock,
                                                      std::span<const Group> starts,
                                                      const FitOptions& options) {
  set_fits(starts, options);
  if (resident_ && ResidentFits::serve(starts)) {
    resident_->run(stream, clock, starts, fits_, options);
    return fits_;
  }
  begin_fits(stream, clock, starts);
  for (;;) {
    bool any = false;
    for (Running& group : running_) {
      std::erase_if(group.fits, [](const FitSteps* fit) { return !fit->in_progress(); });
      any = any || !group.fits.empty();
    }
    if (!any) return fits_;
    take_step(stream, clock, is_projective(options.motion));
  }
}

}  // namespace warpalign::detail
