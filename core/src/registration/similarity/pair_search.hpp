// Finds how two pictures lie on one another: candidates from log-polar spectra at several base
// scales, each verified by its correlation over what the pictures have in common.
#pragma once

#include "registration/ones.hpp"
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

/// A transform that was looked at.
struct Candidate {
  Affine matrix;            ///< reference pixels -> moving pixels
  double shift_score = 0;   ///< see ShiftSearch
  double correlation = 0;   ///< of the locally normalised pictures over what they have in common
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels), on a coarse grid
  double overlap = 0;       ///< part of the reference in common
  bool refined = false;     ///< at the pictures' own resolution
};

class PairSearch {
 public:
  PairSearch(const Device& device, const RegistrationOptions& options);
  PairSearch(const PairSearch&) = delete;
  PairSearch& operator=(const PairSearch&) = delete;

  /// The best candidates, most significant first; the first refined if that is asked for. Never
  /// empty unless the options leave nothing to look at. Waits. Valid until the next call.
  std::span<const Candidate> run(Stream& stream, StageClock& clock, ImagePyramid& reference,
                                 ImagePyramid& moving);

 private:
  struct Work {
    Stream& stream;
    StageClock& clock;
    ImagePyramid& reference;
    ImagePyramid& moving;
  };
  /// A turn and the base scale that it was found at.
  struct Hypothesis {
    RotationScalePeak peak;
    double base;
  };
  void add_turns_at(const Work& work, RotationScaleSearch& search, double base);
  void add_other_turns(const Work& work, RotationScaleSearch& search);
  void place(const Work& work, const Hypothesis& hypothesis);
  bool try_hypotheses(const Work& work, std::size_t maximum);
  void settle(const Work& work, Candidate& candidate);
  void refine(const Work& work, Candidate& candidate);
  SimilarityFit::Pair levels_of_pair(const Work& work, bool swapped, double base, double spacing,
                                     PyramidLevel*& reference, PyramidLevel*& moving);

  Device device_;
  RegistrationOptions options_;
  RotationScaleSearch quick_search_;
  std::optional<RotationScaleSearch> thorough_search_;  // once a pair needs it
  Ones ones_;
  TranslationSearch translation_search_;
  SimilarityFit fitter_;
  Refinement refinement_;

  // What the steps of one run() leave for the next; kept for their memory.
  std::vector<Crop> crops_;
  std::vector<Hypothesis> turns_;
  std::vector<Candidate> placed_;  // of one turn
  std::vector<Candidate> settled_;
};

}  // namespace warpalign::detail
