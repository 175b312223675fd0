// Refines affine transforms and homographies at full resolution, and compares them with simpler
// models.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/refinement/refinement.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/scoring/model_comparison.hpp"

#include "device/readback.hpp"

#include <warpalign/stages/interpolate.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

class ProjectiveRefinement {
 public:
  explicit ProjectiveRefinement(const Device& device) : device_(device) {}

  /// Refines the candidate's affine transform or homography at full resolution; sets `refined`.
  void refine(const PairContext& work, SimilarityFit& fitter, Refinement& refinement,
              Candidate& candidate);

  /// Whether `richer` explains the pair significantly better than `simpler`, which has `parameters`
  /// fewer parameters. Both are refined results of one candidate.
  bool explains_better(const PairContext& work, const Candidate& simpler, const Candidate& richer,
                       int parameters);

 private:
  struct Sampler {
    InterpolatePlan plan;
    Image simpler, richer;
    Readback<float> image, simpler_values, richer_values, coarse_weight, fine_weight;
  };
  struct SamplerKey {
    Shape coarse, fine;
    friend bool operator==(const SamplerKey&, const SamplerKey&) = default;
  };
  /// The candidate's refined transform, or nothing if the refinement fails.
  std::optional<Homography> refined(const PairContext& work, SimilarityFit& fitter,
                                    Refinement& refinement, const Candidate& candidate);
  Sampler& sampler_of(const Shape& coarse, const Shape& fine);

  Device device_;
  ModelComparison comparison_;
  PlanCache<SamplerKey, Sampler> samplers_{4};
  std::vector<std::uint8_t> counts_;
};

}  // namespace warpalign::detail
