// Judges the places that a search has found: refines them coarsely, compares them with chance, and
// puts the best of them first, with the model that is asked for.
#pragma once

#include "registration/fitting/similarity_fit.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/pair_work.hpp"
#include "registration/proposers/translation_search.hpp"
#include "registration/refinement/coarse_refinement.hpp"
#include "registration/resources/ones.hpp"
#include "registration/scoring/chance_test.hpp"
#include "registration/search/model_choice.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Used by one thread at a time. `places` is how many independent wrong places the search might
/// take for the right one.
class CandidateJudge {
 public:
  /// `model`: as the user asks for it. `options`: of the search, which finds no more than
  /// similarities. `parts_ahead`: see PairSearch.
  CandidateJudge(const Device& device, Motion model, const RegistrationOptions& options, Ones& ones,
                 bool parts_ahead);
  CandidateJudge(const CandidateJudge&) = delete;
  CandidateJudge& operator=(const CandidateJudge&) = delete;

  [[nodiscard]] ModelChoice& models() { return model_choice_; }

  /// What to refine where a grid leads to these peaks. Valid until the next call.
  std::span<const Candidate> starts_at(const PairWork& work,
                                       std::span<const TranslationPeak> peaks);
  /// Refines coarsely those found that are not among the candidates yet, and adds them.
  void add(const PairWork& work, std::span<const Candidate> found, RefineFrom from,
           std::vector<Candidate>& candidates);
  /// Adds one that is refined already. Of two at one place the more significant one counts.
  static void merge(const PairWork& work, const Candidate& candidate,
                    std::vector<Candidate>& candidates);
  /// A candidate, refined coarsely, whatever the options allow.
  Candidate refined(const PairWork& work, const Candidate& candidate, RefineFrom from);
  /// Compares with chance those that were not.
  void test(const PairWork& work, std::span<Candidate> candidates, double places);
  /// Tests the most significant candidates, unless one is beyond doubt, and says whether one is
  /// convincing.
  bool has_convincing(const PairWork& work, std::vector<Candidate>& candidates, double places);
  /// Puts the best candidate first, with the model that is asked for, and compares it with chance.
  void conclude(const PairWork& work, std::vector<Candidate>& candidates, double places);
  /// Compares a candidate that was tested with the best of those elsewhere.
  static void set_rival(const PairWork& work, std::span<const Candidate> candidates,
                        Candidate& chosen);

  [[nodiscard]] bool is_allowed(const PairWork& work, const Candidate& candidate) const;

 private:
  RegistrationOptions options_;
  Device device_;
  Ones& ones_;
  SimilarityFit fitter_;
  CoarseRefinement coarse_refinement_;
  std::optional<ChanceTest> chance_test_;
  ModelChoice model_choice_;
  // Members so that their memory is reused.
  std::vector<Candidate> starts_;
  std::vector<Candidate> new_places_;  // those that are refined together
  std::vector<Candidate*> untested_;   // those that are compared with chance together
};

/// Whether two candidates are at one place.
[[nodiscard]] bool same_location(const PairWork& work, const Candidate& a, const Candidate& b);

}  // namespace warpalign::detail
