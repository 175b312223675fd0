// Affine transforms and homographies, fitted where a search has found similarities.
#include "registration/similarity/richer_models.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/registration_result.hpp"
#include "registration/similarity/common_pixels.hpp"
#include "registration/similarity/direction_refinement.hpp"
#include "registration/similarity/fit_levels.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace warpalign::detail {

namespace {

// A richer model that is much less significant than the similarity has gone astray.
constexpr double min_gain = 0.95;

// Starts from finer levels do not bring a place to the front whose first fit, and the similarity
// that it began with, have less than this fraction of the best place's significance or, by grey
// levels, less than this significance. Of 44 real pairs that a homography explains, the place that
// ended as the best one had 0.86 of the best and a significance of 34, or more, after its first
// start.
constexpr double hopeless_fraction = 0.6;
constexpr double hopeless_significance = 20;

// The side of the levels on which models are compared. Noise and aliasing count more on finer ones.
constexpr double compared_side = 512;
// The least spacing of these levels. At 1 they are not smoothed, and what is interpolated of their
// noise is as strong as it was at whole pixels, and weaker between them: a model that leads there
// would be taken for better. Any spacing above it smooths.
constexpr double min_compared_spacing = 1.01;
// Models that place the pixels in common less far apart than this, in pixels, are the same: so much
// may be due to interpolation and light.
constexpr double min_difference = 0.02;

// What two views of a plane may differ by: how much finer content is on one side of the reference
// than on the other, and by how much lengths may be stretched more along one direction than along
// another. Beyond it a fit has followed chance, unless it began where many windows agree.
struct MaxDifference {
  double perspective, stretch;
};
constexpr MaxDifference max_difference{4, 4};
constexpr MaxDifference max_difference_by_windows{12, 6};

MaxDifference max_difference_of(const Candidate& candidate) {
  return candidate.proposed_by == Generator::windows ? max_difference_by_windows : max_difference;
}
// The smallest ratio of the divisors within either image.
constexpr double min_divisor = 0.01;

// The ratio of the singular values of the linear part.
double stretch_of(const Affine& m) {
  const double squares = m.a * m.a + m.b * m.b + m.d * m.d + m.e * m.e;
  const double determinant = m.a * m.e - m.b * m.d;
  const double root = std::sqrt(std::max(squares * squares - 4 * determinant * determinant, 0.0));
  return std::sqrt((squares + root) / std::max(squares - root, 1e-300));
}

// Whether no point of the reference is mapped to infinity, and the part in common looks as a plane
// may.
bool is_plausible(const Homography& m, const Shape& reference, const Shape& moving,
                  const MaxDifference& allowed) {
  if (!is_regular(m, reference, min_divisor)) return false;
  double smallest = INFINITY;
  double largest = 0;
  double stretch = 0;
  bool mirrored = false;
  for_each_grid_point(reference, [&](Point p) {
    const LocalMap map(m, p);
    if (!is_inside(map.place, moving)) return;
    const Affine here = map.linear();
    mirrored = mirrored || map.area() <= 0;
    smallest = std::min(smallest, scale_of(here));
    largest = std::max(largest, scale_of(here));
    stretch = std::max(stretch, stretch_of(here));
  });
  return !mirrored && largest > 0 && largest < allowed.perspective * smallest &&
         stretch < allowed.stretch;
}

}  // namespace

double RicherModels::Place::reached() const {
  return std::max(start_significance, best ? best->significance : 0.0);
}

// The significance from which on a place is fitted from finer levels, too.
double RicherModels::least_to_start_again(const PairWork& work, std::span<const Place> places) {
  double most = 0;
  for (const Place& place : places) most = std::max(most, place.reached());
  const double least = work.fields == nullptr ? hopeless_significance : 0;
  return std::max(least, hopeless_fraction * most);
}

Homography transform_of(const Candidate& candidate) {
  return candidate.motion == Motion::similarity ? Homography(candidate.matrix) : candidate.richer;
}

// Fits places on levels from `first_side` on.
void RicherModels::fit_levels_from(const PairWork& work, SimilarityFit& fitter, Motion motion,
                                   double first_side, std::span<const Group> groups) {
  for (const Group& group : groups) {
    for (Place& place : group) {
      place.matrix = place.start;
      place.is_fitted = false;
    }
  }
  for (const FitLevel& level : fit_levels()) {
    if (!is_level_of(level, motion, first_side)) continue;
    of_level_.clear();
    for (const Group& group : groups) {
      if (is_fitted_on(level, group.front().roles)) of_level_.push_back(group);
    }
    const Motion fitted_motion = motion == Motion::affine ? Motion::affine : level.motion;
    fit_on_level(work, fitter, {fitted_motion, level.iterations, level.tolerance, level.max_drift},
                 level.side, of_level_);
  }
}

void RicherModels::prepare(const PairWork& work, std::span<const Group> groups, double side,
                           FieldDetail detail) {
  starts_.set(work, ones_, groups, detail,
              [side](const FitRoles& roles) { return roles.spacing(side); });
}

void RicherModels::fit_on_level(const PairWork& work, SimilarityFit& fitter,
                                const FitOptions& options, double side,
                                std::span<const Group> groups) {
  prepare(work, groups, side, FieldDetail::smoothed);
  auto fit = fitter.fit_together(work.stream, work.clock, starts_.groups(), options).begin();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (Place& place : groups[g]) {
      const auto& result = (fit++)->result();
      place.is_fitted = result.has_value();
      if (result) place.matrix = starts_.levels(g).to_images(result->matrix);
    }
  }
}

// Judges the candidates `judged` of places, at their matrices.
void RicherModels::judge_together(const PairWork& work, SimilarityFit& fitter,
                                  std::span<const Group> groups) {
  prepare(work, groups, judged_side, FieldDetail::whole);
  auto sums = fitter.evaluate_together(work.stream, work.clock, starts_.groups()).begin();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (Place& place : groups[g]) {
      judge(work, place.roles, starts_.levels(g), place.matrix, *sums++, place.judged);
    }
  }
}

// A candidate whose scale is near 1 may have been judged with the images' roles exchanged, and
// significances are comparable within the same roles only: they count the independent pixels of the
// finer image.
void RicherModels::judge_starts(const PairWork& work, SimilarityFit& fitter,
                                std::span<const Group> groups) {
  for (const Group& group : groups) {
    for (Place& place : group) place.judged = *place.candidate;
  }
  judge_together(work, fitter, groups);
  for (const Group& group : groups) {
    for (Place& place : group) place.start_significance = place.judged.significance;
  }
}

// Judges those of the places that were fitted and may be views of a plane, and keeps for each the
// most significant fit so far.
void RicherModels::judge_fitted(const PairWork& work, SimilarityFit& fitter, Motion motion,
                                std::span<const Group> groups) {
  const auto may_be = [&](const Place& place) {
    // What is regular over an image is so over its levels, whose samples lie within it.
    return place.is_fitted && is_regular(place.matrix, place.roles.coarse().shape(), min_divisor) &&
           is_plausible(scaled(place.roles.in_roles(place.matrix)), work.reference.shape(),
                        work.moving.shape(), max_difference_of(*place.candidate));
  };
  plausible_.clear();
  for (const Group& group : groups) {
    const auto end = std::partition(group.begin(), group.end(), may_be);
    const Group plausible = group.first(static_cast<std::size_t>(end - group.begin()));
    if (!plausible.empty()) plausible_.push_back(plausible);
    for (Place& place : plausible) {
      place.judged = *place.candidate;
      place.judged.motion = motion;
      place.judged.richer = scaled(place.roles.in_roles(place.matrix));
    }
  }
  judge_together(work, fitter, plausible_);
  for (const Group& group : plausible_) {
    for (Place& place : group) {
      if (!place.best || place.judged.significance > place.best->significance) {
        place.best = place.judged;
      }
    }
  }
}

void RicherModels::fit_coarsely(const PairWork& work, SimilarityFit& fitter, Motion motion,
                                std::span<Candidate> candidates) {
  places_.clear();
  for (Candidate& candidate : candidates) {
    const FitRoles roles(work, candidate.matrix);
    const Homography start = roles.in_roles(candidate.matrix);
    places_.push_back({&candidate, roles, start, start});
  }
  for_groups_of_same_levels(work, std::span(places_), groups_, [&](std::span<const Group> groups) {
    judge_starts(work, fitter, groups);
  });
  double least = 0;
  for (const double first_side : first_sides) {
    const auto end = std::partition(places_.begin(), places_.end(), [&](const Place& place) {
      return place.reached() >= least && (!place.best || is_in_doubt(*place.best));
    });
    const std::span<Place> in_doubt(places_.begin(), end);
    for_groups_of_same_levels(work, in_doubt, groups_, [&](std::span<const Group> groups) {
      fit_levels_from(work, fitter, motion, first_side, groups);
      judge_fitted(work, fitter, motion, groups);
    });
    least = least_to_start_again(work, places_);
  }
  for (Place& place : places_) {
    const bool is_better =
        place.best && place.best->significance >= min_gain * place.start_significance;
    if (is_better) *place.candidate = *place.best;
  }
}

std::optional<Candidate> RicherModels::fit_by_windows(const PairWork& work, SimilarityFit& fitter,
                                                      const Homography& start) {
  const Shape& reference = work.reference.shape();
  Candidate candidate;
  candidate.proposed_by = Generator::windows;
  if (!is_plausible(start, reference, work.moving.shape(), max_difference_of(candidate))) {
    return std::nullopt;
  }
  candidate.matrix = registered(Motion::homography, start, reference, work.moving.shape())
                         .similarity.matrix(reference, work.moving.shape());
  const FitRoles roles(work, candidate.matrix, start);
  const Homography in_roles = roles.in_roles(start);
  if (!is_regular(in_roles, roles.coarse().shape(), min_divisor)) return std::nullopt;
  Place place{&candidate, roles, in_roles, in_roles};
  for (const double first_side : first_sides_by_windows) {
    const Group alone(&place, 1);
    fit_levels_from(work, fitter, Motion::homography, first_side, {&alone, 1});
    judge_fitted(work, fitter, Motion::homography, {&alone, 1});
  }
  return place.best;
}

void RicherModels::refine(const PairWork& work, SimilarityFit& fitter, Refinement& refinement,
                          Candidate& candidate) {
  candidate.refined = false;
  const auto fitted = refined(work, fitter, refinement, candidate);
  if (!fitted) return;
  const Homography found = scaled(*fitted);
  if (!is_plausible(found, work.reference.shape(), work.moving.shape(),
                    max_difference_of(candidate))) {
    return;
  }
  candidate.richer = found;
  candidate.refined = true;
}

std::optional<Homography> RicherModels::refined(const PairWork& work, SimilarityFit& fitter,
                                                Refinement& refinement,
                                                const Candidate& candidate) {
  if (work.fields != nullptr) {
    return refined_by_directions(work, ones_, fitter, candidate.motion, candidate.matrix,
                                 candidate.richer);
  }
  const FitRoles roles(work, candidate.matrix, transform_of(candidate));
  const auto settled = refinement.settle({work.stream, work.clock, roles.coarse(), roles.fine(),
                                          roles.in_roles(candidate.richer), ones_},
                                         fitter, candidate.motion);
  if (!settled) return std::nullopt;
  return roles.in_roles(*settled);
}

RicherModels::Sampler& RicherModels::sampler_of(const Shape& coarse, const Shape& fine) {
  return samplers_.get({coarse, fine}, [&] {
    const InterpolateSpec spec{
        .image = fine, .output = coarse, .degree = 3, .boundary = Boundary::mirror};
    const auto pixels = static_cast<std::size_t>(coarse.plane());
    return Sampler{InterpolatePlan(device_, spec),
                   device_.make_image(PixelType::f32, coarse),
                   device_.make_image(PixelType::f32, coarse),
                   Readback<float>(device_, pixels),
                   Readback<float>(device_, pixels),
                   Readback<float>(device_, pixels),
                   Readback<float>(device_, pixels),
                   Readback<float>(device_, static_cast<std::size_t>(fine.plane()))};
  });
}

bool RicherModels::explains_better(const PairWork& work, const Candidate& simpler,
                                   const Candidate& richer, int parameters) {
  const FitRoles roles(work, richer.matrix, transform_of(richer));
  const double spacing = std::max(roles.spacing(compared_side), min_compared_spacing);
  const FitRoles::Levels levels = roles.levels(work, ones_, spacing, FieldDetail::smoothed);
  const Shape& coarse = levels.coarse.shape();
  const Shape& fine = levels.fine.shape();
  const Homography first = levels.to_levels(roles.in_roles(transform_of(simpler)));
  const Homography second = levels.to_levels(roles.in_roles(transform_of(richer)));
  Sampler& sampler = sampler_of(coarse, fine);
  const auto predict = [&](const SimilarityImages& images) {
    work.clock.run("model_comparison", [&] {
      sampler.plan.execute(work.stream, images.coefficients, first, sampler.simpler);
      sampler.plan.execute(work.stream, images.coefficients, second, sampler.richer);
    });
    sampler.image.enqueue(work.stream, images.reference.buffer());
    sampler.simpler_values.enqueue(work.stream, sampler.simpler.buffer());
    sampler.richer_values.enqueue(work.stream, sampler.richer.buffer());
  };
  const SimilarityImages& images = levels.pair.images;
  predict(images);
  WeightedPair common{coarse, fine, {}, {}};
  if (images.reference_weight != nullptr) {
    sampler.coarse_weight.enqueue(work.stream, images.reference_weight->buffer());
    sampler.fine_weight.enqueue(work.stream, images.moving_weight->buffer());
    common.coarse_weight = sampler.coarse_weight.wait();
    common.fine_weight = sampler.fine_weight.wait();
  }
  const double apart = find_common(common, first, second, counts_);
  const auto predictions = [&] {
    return Predictions{coarse.width,
                       coarse.height,
                       sampler.image.wait(),
                       sampler.simpler_values.wait(),
                       sampler.richer_values.wait(),
                       counts_};
  };
  const Predictions of_first_channel = predictions();
  if (apart < min_difference) return false;
  double ratio = comparison_.likelihood_ratio(of_first_channel);
  if (levels.pair.second) {
    // The logarithms of the likelihoods of two channels add up.
    predict(*levels.pair.second);
    ratio += comparison_.likelihood_ratio(predictions());
  }
  return is_significant(ratio, parameters);
}

}  // namespace warpalign::detail
