// Another thread that judges some of the places that a grid by directions of edges has found.
#pragma once

#include "registration/pair/search_helper.hpp"
#include "registration/resources/ones.hpp"
#include "registration/search/candidate_judge.hpp"
#include "registration/signal/gradient_fields.hpp"

#include <span>
#include <vector>

namespace warpalign::detail {

/// Fits at some places, of which chance gives one of `places` (see CandidateJudge), and compares
/// the results with it.
void judge_places(const PairWork& work, CandidateJudge& judge,
                  std::span<const TranslationPeak> peaks, double places,
                  std::vector<Candidate>& candidates);

class DirectionHelper {
 public:
  struct Part {
    std::span<const TranslationPeak> peaks;
    double places;
  };
  using Found = std::span<const Candidate>;

  DirectionHelper(const Device& device, Motion model, const RegistrationOptions& options);

  /// The pair that is searched next.
  void show(const PairWork& pair);
  /// What judge_places() makes of these while the caller does own(). Valid until the next call.
  template <class Own>
  Found beside(const Part& part, const Own& own) {
    return thread_.beside(part, own);
  }

 private:
  Ones ones_;
  GradientFields fields_;
  CandidateJudge judge_;
  std::vector<Candidate> candidates_;
  SearchHelper<Part, Found> thread_;  // which uses the others, and is ended first
};

}  // namespace warpalign::detail
