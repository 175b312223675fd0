// Finds the transform between two images. Candidates come from log-polar spectra at several base
// scales; each is verified by its correlation over the overlap of the images.
#pragma once

#include "registration/confidence.hpp"
#include "registration/ones.hpp"
#include "registration/similarity/grid_search.hpp"
#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/refinement.hpp"
#include "registration/similarity/rotation_scale_search.hpp"
#include "registration/similarity/similarity_fit.hpp"
#include "registration/similarity/translation_search.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A transform that was evaluated.
struct Candidate {
  Affine matrix;            ///< reference pixels -> moving pixels
  double shift_score = 0;   ///< see TranslationPeak::score
  double correlation = 0;   ///< of the locally normalized images over their overlap
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels), on a coarse grid
  double overlap = 0;       ///< fraction of the reference that is in common
  /// The significance at which the confidence is one half: the wider the search, the higher.
  double half_confidence = half_confidence_significance;
  bool refined = false;  ///< whether it was refined at full resolution
};

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
  struct Work {
    Stream& stream;
    StageClock& clock;
    ImagePyramid& reference;
    ImagePyramid& moving;
  };
  /// A rotation-scale hypothesis and the base scale at which it was found.
  struct Hypothesis {
    RotationScalePeak peak;
    double base;
  };
  void add_hypotheses_at(const Work& work, RotationScaleSearch& search, double base);
  void add_hypotheses_at_other_bases(const Work& work, RotationScaleSearch& search);
  void find_shifts(const Work& work, const Hypothesis& hypothesis);
  bool try_hypotheses(const Work& work, std::size_t maximum);
  bool try_grid(const Work& work);
  [[nodiscard]] bool within_limits(const Work& work, const Affine& matrix) const;
  bool add_candidate(const Work& work, Candidate& candidate, std::size_t first_level);
  /// `first_level`: of refinement_levels, the coarsest first.
  void refine_coarsely(const Work& work, Candidate& candidate, std::size_t first_level);
  void refine(const Work& work, Candidate& candidate);
  SimilarityFit::Pair levels_of_pair(const Work& work, bool swapped, double base, double spacing,
                                     PyramidLevel*& reference, PyramidLevel*& moving);

  Device device_;
  RegistrationOptions options_;
  RotationScaleSearch first_search_;
  std::optional<RotationScaleSearch> second_search_;  // created when a pair first needs it
  Ones ones_;
  TranslationSearch translation_search_;
  std::optional<GridSearch> grid_search_;  // likewise
  SimilarityFit fitter_;
  Refinement refinement_;

  // Intermediate results within one run(); members so that their memory is reused.
  std::vector<Crop> crops_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<Candidate> shifted_;     // one hypothesis and its opposite, each at its best shift
  std::vector<Candidate> candidates_;  // refined coarsely
};

}  // namespace warpalign::detail
