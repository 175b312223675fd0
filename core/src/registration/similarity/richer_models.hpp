// Affine transforms and homographies, fitted where a search has found similarities.
#pragma once

#include "registration/plan_cache.hpp"
#include "registration/similarity/candidate.hpp"
#include "registration/similarity/level_pair.hpp"
#include "registration/similarity/model_comparison.hpp"
#include "registration/similarity/refinement.hpp"

#include "device/readback.hpp"

#include <warpalign/stages/interpolate.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

class RicherModels {
 public:
  RicherModels(const Device& device, Ones& ones) : device_(device), ones_(ones) {}

  /// Fits the motion, affine or homography, on levels of increasing resolution, beginning with each
  /// candidate's similarity, and judges the candidate anew, which has that motion then. Does not
  /// change one whose fit diverges, maps a point of the reference to infinity or explains less than
  /// the similarity. Candidates are fitted together. Waits for the device.
  void fit_coarsely(const PairWork& work, SimilarityFit& fitter, Motion motion,
                    std::span<Candidate> candidates);

  /// Fits a homography that other means than a similarity have found to within some pixels,
  /// likewise.
  std::optional<Candidate> fit_by_windows(const PairWork& work, SimilarityFit& fitter,
                                          const Homography& start);

  /// Refines the candidate's richer transform at full resolution; sets `refined`.
  void refine(const PairWork& work, SimilarityFit& fitter, Refinement& refinement,
              Candidate& candidate);

  /// Whether `richer` explains the pair significantly better than `simpler`, which has `parameters`
  /// fewer parameters. Both are refined places of one candidate.
  bool explains_better(const PairWork& work, const Candidate& simpler, const Candidate& richer,
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
  /// A candidate in the roles of a fit, and what was found of it.
  struct Place {
    Candidate* candidate;
    FitRoles roles;
    Homography start, matrix;  ///< in these roles
    bool is_fitted = false;    ///< on the finest level
    Candidate judged{};        ///< the candidate at `matrix`
    std::optional<Candidate> best{};
    double start_significance = 0;  ///< in these roles, which may not be those of the search
    /// The significance of the best fit so far, or of the start.
    [[nodiscard]] double reached() const;
  };
  static double least_to_start_again(const PairWork& work, std::span<const Place> places);
  using Group = std::span<Place>;  ///< of places whose scales call for the same levels
  void fit_levels_from(const PairWork& work, SimilarityFit& fitter, Motion motion,
                       double first_side, std::span<const Group> groups);
  /// The groups' levels of a side, and their places' transforms between these, into starts_.
  void prepare(const PairWork& work, std::span<const Group> groups, double side,
               FieldDetail detail);
  void fit_on_level(const PairWork& work, SimilarityFit& fitter, const FitOptions& options,
                    double side, std::span<const Group> groups);
  void judge_starts(const PairWork& work, SimilarityFit& fitter, std::span<const Group> groups);
  void judge_fitted(const PairWork& work, SimilarityFit& fitter, Motion motion,
                    std::span<const Group> groups);
  void judge_together(const PairWork& work, SimilarityFit& fitter, std::span<const Group> groups);
  /// The candidate's richer transform after the refinement; nothing where that diverges.
  std::optional<Homography> refined(const PairWork& work, SimilarityFit& fitter,
                                    Refinement& refinement, const Candidate& candidate);
  Sampler& sampler_of(const Shape& coarse, const Shape& fine);

  Device device_;
  Ones& ones_;
  ModelComparison comparison_;
  PlanCache<SamplerKey, Sampler> samplers_{4};
  std::vector<std::uint8_t> counts_;
  std::vector<Place> places_;
  std::vector<Group> groups_, of_level_, plausible_;
  LevelStarts starts_;
};

/// The transform of a candidate, whatever its motion.
[[nodiscard]] Homography transform_of(const Candidate& candidate);

}  // namespace warpalign::detail
