// All places at which directions of edges agree, for images of other modalities.
#pragma once

#include "registration/proposers/grid_search.hpp"
#include "registration/resources/ones.hpp"
#include "registration/search/candidate_judge.hpp"
#include "registration/search/direction_helper.hpp"
#include "registration/signal/gradient_fields.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A part of a search, for SearchPart: the grid of all rotations and scales, the fits at the best
/// of its places, their comparison with chance, and the refinement of the best.
class DirectionSearch {
 public:
  /// `model` and `options` as for CandidateJudge. `may_be_helped`: whether a pair that is alone is
  /// searched by several threads.
  DirectionSearch(const Device& device, Motion model, const RegistrationOptions& options,
                  bool may_be_helped);

  void search(const PairWork& pair, int step);
  /// The best first; may be incomplete where the search was told to stop.
  [[nodiscard]] std::span<const Candidate> found(int /*step*/) const { return candidates_; }

 private:
  struct Stages {
    Stages(const Device& device, Motion model, const RegistrationOptions& options, Ones& ones,
           GradientFields& fields, bool may_be_helped);
    GridSearch grid;
    CandidateJudge judge;
  };
  /// Judges the places that the grid has found, half of them by a helper if there is one.
  void judge_all(const PairWork& work, double places);

  Device device_;
  Motion model_;
  RegistrationOptions options_;
  bool may_be_helped_;
  Ones ones_;
  GradientFields fields_;
  std::optional<Stages> stages_;           // created when a pair first needs them
  std::optional<DirectionHelper> helper_;  // likewise
  std::vector<TranslationPeak> peaks_;     // by their scales
  std::vector<Candidate> candidates_, of_others_;
};

/// By how much more places chance has where grey levels and directions are both compared.
inline constexpr double chances_of_both = 2;

}  // namespace warpalign::detail
