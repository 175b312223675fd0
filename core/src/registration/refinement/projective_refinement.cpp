// Refines affine transforms and homographies at full resolution, and compares them with simpler
// models.
#include "registration/refinement/projective_refinement.hpp"

#include "registration/refinement/orientation_refinement.hpp"
#include "registration/refinement/view_of_plane.hpp"
#include "registration/scoring/common_pixels.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// The side of the levels for comparing models. Noise and aliasing are stronger on finer levels.
constexpr double compared_side = 512;
// The smallest spacing of these levels. Levels with a spacing of 1 are not smoothed; interpolation
// then damps their noise between pixels, but not at whole pixels, which favours models that map to
// positions between pixels. All levels with a larger spacing are smoothed.
constexpr double min_compared_spacing = 1.01;
// Models that differ by less than this over the overlap, in pixels, count as equal: interpolation
// and illumination may cause such differences.
constexpr double min_difference = 0.02;

}  // namespace

void ProjectiveRefinement::refine(const PairContext& work, SimilarityFit& fitter,
                                  Refinement& refinement, Candidate& candidate) {
  candidate.refined = false;
  const auto fitted = refined(work, fitter, refinement, candidate);
  if (!fitted) return;
  const Homography found = scaled(*fitted);
  if (!is_plausible_view(found, work.reference.shape(), work.moving.shape(),
                         candidate.proposed_by)) {
    return;
  }
  candidate.richer = found;
  candidate.refined = true;
}

std::optional<Homography> ProjectiveRefinement::refined(const PairContext& work,
                                                        SimilarityFit& fitter,
                                                        Refinement& refinement,
                                                        const Candidate& candidate) {
  if (work.compares_orientation()) {
    return refine_by_orientation(work, fitter, candidate.motion, candidate.matrix,
                                 candidate.richer);
  }
  const FitDirection roles(work, candidate.matrix, transform_of(candidate));
  const auto refined_matrix =
      refinement.settle({work.stream, work.clock, roles.coarse(), roles.fine(),
                         roles.to_fit_frame(candidate.richer), work.unit_weights},
                        fitter, candidate.motion);
  if (!refined_matrix) return std::nullopt;
  return roles.to_fit_frame(*refined_matrix);
}

ProjectiveRefinement::Sampler& ProjectiveRefinement::sampler_of(const Shape& coarse,
                                                                const Shape& fine) {
  return samplers_.get({coarse, fine}, [&] {
    const InterpolateSpec spec{.images = {.shape = fine}, .output = coarse};
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

bool ProjectiveRefinement::explains_better(const PairContext& work, const Candidate& simpler,
                                           const Candidate& richer, int parameters) {
  const FitDirection roles(work, richer.matrix, transform_of(richer));
  const double spacing = std::max(roles.spacing(compared_side), min_compared_spacing);
  const FitDirection::Levels levels = roles.levels(work, spacing, FieldDetail::smoothed);
  const Shape& coarse = levels.coarse.shape();
  const Shape& fine = levels.fine.shape();
  const Homography first = levels.to_levels(roles.to_fit_frame(transform_of(simpler)));
  const Homography second = levels.to_levels(roles.to_fit_frame(transform_of(richer)));
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
  const double distance = find_common(common, first, second, counts_);
  const auto predictions = [&] {
    return Predictions{coarse.width,
                       coarse.height,
                       sampler.image.wait(),
                       sampler.simpler_values.wait(),
                       sampler.richer_values.wait(),
                       counts_};
  };
  const Predictions first_channel = predictions();
  if (distance < min_difference) return false;
  double ratio = comparison_.likelihood_ratio(first_channel);
  if (levels.pair.second) {
    // The logarithms of the likelihoods of two channels add up.
    predict(*levels.pair.second);
    ratio += comparison_.likelihood_ratio(predictions());
  }
  return is_significant(ratio, parameters);
}

}  // namespace warpalign::detail
