// Finds the transform between two images. Candidates come from log-polar spectra at several base
// scales; each is verified by its correlation over the overlap of the images.
#pragma once

#include "registration/ones.hpp"
#include "registration/similarity/candidate.hpp"
#include "registration/similarity/chance_test.hpp"
#include "registration/similarity/coarse_refinement.hpp"
#include "registration/similarity/grid_search.hpp"
#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/level_pair.hpp"
#include "registration/similarity/model_choice.hpp"
#include "registration/similarity/rotation_scale_search.hpp"
#include "registration/similarity/similarity_fit.hpp"
#include "registration/similarity/translation_search.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

class PairSearch {
 public:
  PairSearch(const Device& device, const RegistrationOptions& options);
  PairSearch(const PairSearch&) = delete;
  PairSearch& operator=(const PairSearch&) = delete;

  /// The best candidates, most significant first; the first one is refined if the options ask for
  /// it. Empty where the options leave nothing to evaluate or no shift scores high enough. Waits
  /// for the device. The result is valid until the next call.
  std::span<const Candidate> run(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 ImagePyramid& moving);

 private:
  /// A rotation-scale hypothesis and the base scale at which it was found.
  struct Hypothesis {
    RotationScalePeak peak;
    double base;
  };
  void add_hypotheses_at(const PairWork& work, RotationScaleSearch& search, double base);
  void add_hypotheses_at_other_bases(const PairWork& work, RotationScaleSearch& search);
  [[nodiscard]] Affine start_of(const PairWork& work, const Affine& found) const;
  void find_shifts(const PairWork& work, const Hypothesis& hypothesis);
  bool try_first_hypothesis(const PairWork& work);
  bool try_hypotheses(const PairWork& work, std::size_t maximum);
  bool try_grid(const PairWork& work);
  bool has_convincing(const PairWork& work);
  void test(const PairWork& work, Candidate& candidate);
  void compare_with_chance(const PairWork& work, Candidate& chosen);
  bool add_candidates(const PairWork& work, std::span<const Candidate> found, RefineFrom from);
  void add_refined(const PairWork& work, const Candidate& candidate);

  Device device_;
  RegistrationOptions options_;  // of the search, which finds no more than similarities
  RotationScaleSearch first_search_;
  std::optional<RotationScaleSearch> second_search_;  // created when a pair first needs it
  Ones ones_;
  TranslationSearch translation_search_;
  std::optional<GridSearch> grid_search_;  // likewise
  SimilarityFit fitter_;
  CoarseRefinement coarse_refinement_;
  std::optional<ChanceTest> chance_test_;
  ModelChoice model_choice_;

  // Intermediate results within one run(); members so that their memory is reused.
  std::vector<Crop> crops_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<Candidate> shifted_;     // hypotheses and their opposites, each at its best shift
  std::vector<Candidate> new_places_;  // those that are refined together
  std::vector<Candidate> candidates_;  // refined coarsely
};

}  // namespace warpalign::detail
