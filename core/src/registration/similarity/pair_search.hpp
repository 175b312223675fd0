// Finds how two pictures lie on one another: candidates from log-polar spectra at several base
// scales, each verified by its correlation over what the pictures have in common.
#pragma once

#include "registration/similarity/refinement.hpp"
#include "registration/similarity/image_pyramid.hpp"
#include "registration/similarity/translation_search.hpp"
#include "registration/similarity/similarity_fit.hpp"
#include "registration/similarity/rotation_scale_search.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
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

  /// The best candidates, most significant first; the first refined if that is asked for. Never
  /// empty unless the options leave nothing to look at. Waits.
  std::vector<Candidate> run(Stream& stream, StageClock& clock, Picture& reference,
                             Picture& moving);

 private:
  struct Work {
    Stream& stream;
    StageClock& clock;
    Picture& reference;
    Picture& moving;
  };
  /// A turn and the base scale that it was found at.
  struct Turn {
    TurnPeak peak;
    double base;
  };
  std::vector<Turn> turns_at(const Work& work, TurnSearch& search, double base, std::size_t most);
  std::vector<Turn> all_turns(const Work& work, TurnSearch& search,
                              const std::vector<Turn>& of_base_one);
  std::vector<Candidate> place(const Work& work, const Turn& turn);
  bool try_turns(const Work& work, const std::vector<Turn>& turns, std::size_t most,
                 std::vector<Candidate>& settled);
  void settle(const Work& work, Candidate& candidate);
  void refine(const Work& work, Candidate& candidate);
  SimilarityFit::Pair views_of(const Work& work, bool swapped, double base, double spacing,
                               View*& reference, View*& moving);

  Device device_;
  RegistrationOptions options_;
  TurnSearch quick_turns_;
  std::optional<TurnSearch> thorough_turns_;  // once a pair needs it
  ShiftSearch shift_search_;
  SimilarityFit fitter_;
  FineFit fine_fit_;
  Ones ones_;
};

}  // namespace warpalign::detail
